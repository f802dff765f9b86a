package database

import (
	"context"
	"strconv"
	"strings"
)

// Rows is a statement with a list of rows. The number of
// different pairs of Before and After must be limited.
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
)

// ExecRows executes r in tx, in parts if there are many rows.
func (d *DB) ExecRows(ctx context.Context, tx *Tx, r Rows) error {
	return d.eachPart(r, func(text string, args []any) error {
		_, err := tx.ExecContext(ctx, text, args...)
		return err
	})
}

// ExecTogether executes statements of which none depends on another: each writes to
// another table, or to other rows of one. PostgreSQL gets all of them as one. The number
// of different combinations must be limited.
func (d *DB) ExecTogether(ctx context.Context, tx *Tx, all ...Rows) error {
	var some []Rows
	for _, r := range all {
		switch rows := len(r.Values) / max(len(r.Types), 1); {
		case rows == 0:
		case d.Dialect != Postgres || rows > pgRows:
			if err := d.ExecRows(ctx, tx, r); err != nil {
				return err
			}
		default:
			some = append(some, r)
		}
	}
	if len(some) == 0 {
		return nil
	}
	text, args := d.together(some)
	_, err := tx.ExecContext(ctx, text, args...)
	return err
}

// together is the text of several statements for PostgreSQL, and its arguments.
func (d *DB) together(all []Rows) (string, []any) {
	var key listKey
	var args []any
	for _, r := range all {
		key.before += r.Before + "\x00" + r.After + "\x00"
		args = append(args, arrays(r.Values, len(r.Types))...)
	}
	if s, ok := d.lists.Load(key); ok {
		return s.(string), args
	}
	var b strings.Builder
	first := 1
	for i, r := range all {
		text := r.Before + unnest(first, r.Types) + r.After
		first += len(r.Types)
		switch {
		case i == len(all)-1:
			b.WriteString(" " + text)
		case i == 0:
			b.WriteString("WITH write0 AS (" + text + ")")
		default:
			b.WriteString(", write" + strconv.Itoa(i) + " AS (" + text + ")")
		}
	}
	s, _ := d.lists.LoadOrStore(key, strings.TrimSpace(b.String()))
	return s.(string), args
}

// SelectRows executes r, in parts if there are many rows, and returns the found rows.
func SelectRows[T any](ctx context.Context, d *DB, q Reader, r Rows) ([]T, error) {
	var all []T
	err := d.eachPart(r, func(text string, args []any) error { return q.SelectContext(ctx, &all, text, args...) })
	return all, err
}

// Insert inserts rows. values are the rows one after the other, types the types of
// the columns; into names the table and the columns.
func (d *DB) Insert(ctx context.Context, tx *Tx, into string, types []string, values []any) error {
	return d.ExecRows(ctx, tx, Rows{Before: into + " ", Types: types, Values: values})
}

func (d *DB) eachPart(r Rows, run func(text string, args []any) error) error {
	width := len(r.Types)
	for left := r.Values; len(left) > 0; {
		n, size := d.Dialect.part(len(left)/width, r.Set)
		args := fill(left[:n*width], width, size)
		left = left[n*width:]
		text := d.listText(&r, size)
		if d.Dialect == Postgres {
			args = arrays(args, width)
		}
		if err := run(text, args); err != nil {
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

type listKey struct {
	before, after string
	rows          int // 0: any number
}

// listText is the text of a [Rows] for a number of rows.
func (d *DB) listText(r *Rows, rows int) string {
	key := listKey{r.Before, r.After, rows}
	if d.Dialect == Postgres {
		key.rows = 0
	}
	if s, ok := d.lists.Load(key); ok {
		return s.(string)
	}
	list := ""
	if d.Dialect == Postgres {
		list = unnest(1, r.Types)
	} else {
		list = "VALUES " + d.Dialect.Values(rows, len(r.Types), 1)
	}
	s, _ := d.lists.LoadOrStore(key, r.Before+list+r.After)
	return s.(string)
}
