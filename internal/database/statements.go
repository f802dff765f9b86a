package database

import (
	"context"
	"database/sql"
	"regexp"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"
)

const (
	// prepareAfter is the number of executions after which a statement is prepared.
	prepareAfter = 4
	// prepareWithin is how long a caller waits until what is due is prepared.
	prepareWithin = time.Second
	// textLimit is the number of texts that are counted. Those that were executed
	// seldom are forgotten when there are more.
	textLimit = 1000
	// textLength is the length of texts that are not counted: lists of values.
	textLength = 32 << 10
)

// boundLimit matches a limit that is a parameter. SQLite plans a statement for the
// value of such a limit, and so compiles it again each time that a value is bound,
// even the same one. It does not look into expressions.
var boundLimit = regexp.MustCompile(`\bLIMIT (\$[0-9]+|\?)`)

// compiledOnce returns a text that the database compiles once for all values.
func (d Dialect) compiledOnce(text string) string {
	if d == SQLite {
		return boundLimit.ReplaceAllString(text, "LIMIT $1 + 0")
	}
	return text
}

// statements prepares the statements of a handle that are executed often.
type statements struct {
	texts sync.Map // text → *statement
	count atomic.Int32
	never atomic.Bool // see [NeverPrepare]

	mu  sync.Mutex
	due []*statement // to be prepared
}

type statement struct {
	text  string
	uses  atomic.Int32
	ready atomic.Pointer[sql.Stmt]
}

// ready counts a use of text, and returns its prepared statement if there is one.
func (s *statements) ready(text string) *sql.Stmt {
	if s.never.Load() {
		return nil
	}
	known, ok := s.texts.Load(text)
	if !ok {
		if len(text) > textLength {
			return nil
		}
		if s.count.Add(1) > textLimit {
			s.forget()
		}
		known, _ = s.texts.LoadOrStore(text, &statement{text: text})
	}
	st := known.(*statement)
	if stmt := st.ready.Load(); stmt != nil {
		return stmt
	}
	if st.uses.Add(1) == prepareAfter {
		s.mu.Lock()
		s.due = append(s.due, st)
		s.mu.Unlock()
	}
	return nil
}

// NeverPrepare has all statements of db executed as they are, because the next one may
// reach another connection to the database.
func NeverPrepare(ctx context.Context, db *sqlx.DB) error {
	d, err := Of(ctx, db)
	if err == nil {
		d.statements.never.Store(true)
	}
	return err
}

// forget removes the texts that are not prepared.
func (s *statements) forget() {
	var kept int32
	s.texts.Range(func(text, st any) bool {
		if st.(*statement).ready.Load() == nil {
			s.texts.Delete(text)
		} else {
			kept++
		}
		return true
	})
	s.count.Store(kept)
}

// prepareDue prepares the statements that were executed often. It needs a
// connection: call it outside of transactions. A statement that cannot be prepared
// is executed as it is.
func (d *DB) prepareDue(ctx context.Context) {
	d.statements.mu.Lock()
	due := d.statements.due
	d.statements.due = nil
	d.statements.mu.Unlock()
	if len(due) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, prepareWithin)
	defer cancel()
	for _, s := range due {
		if d.prepare(ctx, s) != nil {
			s.uses.Store(-100) // try again after as many uses
		}
	}
}

func (d *DB) prepare(ctx context.Context, s *statement) error {
	stmt, err := d.PrepareContext(ctx, d.Dialect.compiledOnce(s.text))
	if err == nil && !s.ready.CompareAndSwap(nil, stmt) {
		err = stmt.Close() //nolint:sqlclosecheck // another one is used
	}
	return err
}

// Prepare prepares a statement at once, instead of after a few executions. Do not
// call it in a transaction.
func (d *DB) Prepare(ctx context.Context, text string) error {
	if d.statements.never.Load() {
		return nil
	}
	known, loaded := d.statements.texts.LoadOrStore(text, &statement{text: text})
	if !loaded {
		d.statements.count.Add(1)
	}
	s := known.(*statement)
	if s.ready.Load() != nil {
		return nil
	}
	return d.prepare(ctx, s)
}

// ExecContext executes a statement in a transaction of its own.
func (d *DB) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	defer d.Commits.Send()
	if stmt := d.statements.ready(query); stmt != nil { //nolint:sqlclosecheck // it is used until the handle is closed
		return stmt.ExecContext(ctx, args...)
	}
	defer d.prepareDue(ctx)
	return d.DB.ExecContext(ctx, query, args...)
}

// QueryContext executes a statement that returns rows.
func (d *DB) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if stmt := d.statements.ready(query); stmt != nil { //nolint:sqlclosecheck // likewise
		return stmt.QueryContext(ctx, args...)
	}
	return d.DB.QueryContext(ctx, query, args...)
}

// GetContext reads the first row that a statement returns, or [sql.ErrNoRows].
func (d *DB) GetContext(ctx context.Context, dest any, query string, args ...any) error {
	err := d.read(ctx, func(ctx context.Context) error {
		rows, err := d.QueryContext(ctx, query, args...)
		return get(dest, rows, err, d.Mapper)
	})
	d.prepareDue(ctx)
	return err
}

// SelectContext reads all rows that a statement returns into the slice at dest.
func (d *DB) SelectContext(ctx context.Context, dest any, query string, args ...any) error {
	err := d.read(ctx, func(ctx context.Context) error {
		rows, err := d.QueryContext(ctx, query, args...)
		return selectAll(dest, rows, err, d.Mapper)
	})
	d.prepareDue(ctx)
	return err
}
