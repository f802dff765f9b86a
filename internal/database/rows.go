package database

import (
	"context"
	"sync/atomic"

	"github.com/jmoiron/sqlx"
)

// Rows is a statement with a list of rows. It is prepared after it has been
// executed a few times, so the number of different pairs of Before and After must
// be limited.
type Rows struct {
	// Before and After are the text around the list, whose columns are named
	// column1, column2 …
	Before, After string
	// Types are the types of the columns.
	Types []string
	// Values are the rows, one after the other.
	Values []any
	// Set reports that duplicate rows do no harm, as in a search. Lists of
	// different lengths can then share a text.
	Set bool
}

const (
	// liteRows is the maximum number of rows of one statement of SQLite. There is a
	// text for each power of two up to it.
	liteRows = 64
	// pgRows is the maximum number of rows of one statement of PostgreSQL.
	pgRows = 1000
	// prepareAfter is the number of executions after which a statement is prepared.
	prepareAfter = 4
)

// ExecRows executes r in tx, in parts if there are many rows.
func (d *DB) ExecRows(ctx context.Context, tx *sqlx.Tx, r Rows) error {
	return d.eachPart(tx, r, func(s *statement, ready *sqlx.Stmt, args []any) (err error) {
		if ready != nil {
			_, err = tx.StmtxContext(ctx, ready).ExecContext(ctx, args...)
		} else {
			_, err = tx.ExecContext(ctx, s.text, args...)
		}
		return err
	})
}

// SelectRows executes r in tx, in parts if there are many rows, and returns the
// found rows.
func SelectRows[T any](ctx context.Context, d *DB, tx *sqlx.Tx, r Rows) ([]T, error) {
	var all []T
	err := d.eachPart(tx, r, func(s *statement, ready *sqlx.Stmt, args []any) (err error) {
		var found []T
		if ready != nil {
			err = tx.StmtxContext(ctx, ready).SelectContext(ctx, &found, args...) //nolint:sqlclosecheck // tx closes it
		} else {
			err = tx.SelectContext(ctx, &found, s.text, args...)
		}
		if all == nil {
			all = found
		} else {
			all = append(all, found...)
		}
		return err
	})
	return all, err
}

func (d *DB) eachPart(tx *sqlx.Tx, r Rows, run func(s *statement, ready *sqlx.Stmt, args []any) error) error {
	width := len(r.Types)
	for left := r.Values; len(left) > 0; {
		n, size := d.Dialect.part(len(left)/width, r.Set)
		args := fill(left[:n*width], width, size)
		left = left[n*width:]
		s := d.statement(&r, size)
		if d.Dialect == Postgres {
			args = arrays(args, width)
		}
		if err := run(s, d.readyRows(tx, s), args); err != nil {
			return err
		}
	}
	return nil
}

// part returns how many of the remaining rows the next statement takes, and the
// length of its list. PostgreSQL has one text for any number.
func (d Dialect) part(left int, set bool) (n, size int) {
	if d == Postgres {
		n = min(left, pgRows)
		return n, n
	}
	size = liteRows
	for size > left {
		size /= 2
	}
	if set && size < left && size < liteRows {
		return left, 2 * size
	}
	return size, size
}

// fill pads the list to a number of rows by repeating the last row.
func fill(values []any, width, rows int) []any {
	n := len(values)
	if n == rows*width {
		return values
	}
	filled := make([]any, n, rows*width)
	copy(filled, values)
	for len(filled) < cap(filled) {
		filled = append(filled, values[n-width:]...)
	}
	return filled
}

// statement is the text of a [Rows] for a number of rows.
type statement struct {
	text  string
	uses  atomic.Int32
	ready atomic.Pointer[sqlx.Stmt]
}

type statementKey struct {
	before, after string
	rows          int // 0: any number
}

func (d *DB) statement(r *Rows, rows int) *statement {
	key := statementKey{r.Before, r.After, rows}
	if d.Dialect == Postgres {
		key.rows = 0
	}
	if s, ok := d.statements.Load(key); ok {
		return s.(*statement)
	}
	list := ""
	if d.Dialect == Postgres {
		list = unnest(1, r.Types)
	} else {
		list = "VALUES " + d.Dialect.Values(rows, len(r.Types), 1)
	}
	s, _ := d.statements.LoadOrStore(key, &statement{text: r.Before + list + r.After})
	return s.(*statement)
}

// readyRows returns the prepared statement of s. It returns nil if there is none,
// or if tx is not a transaction of this package.
func (d *DB) readyRows(tx *sqlx.Tx, s *statement) *sqlx.Stmt {
	if _, own := d.own.Load(tx); !own {
		return nil
	}
	ready := s.ready.Load()
	if ready == nil && s.uses.Add(1) == prepareAfter {
		d.preparing.Lock()
		d.due = append(d.due, s)
		d.preparing.Unlock()
	}
	return ready
}

// prepareDue prepares statements that were executed often. It needs a connection,
// so it is called after a transaction. A statement that cannot be prepared is
// executed as it is.
func (d *DB) prepareDue(ctx context.Context) {
	d.preparing.Lock()
	due := d.due
	d.due = nil
	d.preparing.Unlock()
	for _, s := range due {
		if stmt, err := d.PreparexContext(ctx, s.text); err == nil {
			s.ready.Store(stmt)
		} else {
			s.uses.Store(0)
		}
	}
}
