package testkit

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jmoiron/sqlx"
)

// Asked counts the statements for a database.
type Asked struct {
	Statements   atomic.Int64
	Transactions atomic.Int64

	mu    sync.Mutex
	texts map[string]int

	doomed atomic.Pointer[string]
	lossy  atomic.Pointer[lossyCommits]

	failing atomic.Int64 // statements until one fails; 0: none does
	failed  atomic.Pointer[string]

	before atomic.Pointer[beforeStatement]

	record atomic.Pointer[[]Statement]
}

// Statement is a statement and its arguments.
type Statement struct {
	Text string
	Args []any
}

// Record returns the statements that were asked while do ran, in their order. Nothing
// else may use the database meanwhile.
func (a *Asked) Record(do func()) []Statement {
	var out []Statement
	a.record.Store(&out)
	defer a.record.Store(nil)
	do()
	return out
}

func (a *Asked) note(text string, args []driver.NamedValue) {
	record := a.record.Load()
	if record == nil {
		return
	}
	s := Statement{Text: text}
	for _, arg := range args {
		s.Args = append(s.Args, arg.Value)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	*record = append(*record, s)
}

// FailCommits makes the commit of transactions fail that had a statement containing
// word. "" ends that.
func (a *Asked) FailCommits(word string) {
	if word == "" {
		a.doomed.Store(nil)
		return
	}
	a.doomed.Store(&word)
}

// LoseCommits makes the commits of the next transactions that had a statement containing
// word return an error although they were made, as when a connection breaks at that
// moment.
func (a *Asked) LoseCommits(word string, times int64) {
	lossy := &lossyCommits{word: word}
	lossy.left.Store(times)
	a.lossy.Store(lossy)
}

type lossyCommits struct {
	word string
	left atomic.Int64
}

var errDoomed = errors.New("the test fails this commit")

// Of returns the number of statements that contained word.
func (a *Asked) Of(word string) (n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for text, times := range a.texts {
		if strings.Contains(text, word) {
			n += times
		}
	}
	return n
}

// Texts returns how often each statement was asked.
func (a *Asked) Texts() map[string]int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return maps.Clone(a.texts)
}

func (a *Asked) count(text string) {
	a.Statements.Add(1)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.texts[text]++
}

// Counting returns db through a driver that counts statements.
func Counting(t testing.TB, db *sqlx.DB) (*sqlx.DB, *Asked) {
	t.Helper()
	n := &Asked{texts: map[string]int{}}
	seen := sqlx.NewDb(sql.OpenDB(counter{db, n}), db.DriverName())
	lent := db.Stats().MaxOpenConnections - 2 // the others remain for direct users of db
	seen.SetMaxOpenConns(lent)
	seen.SetMaxIdleConns(lent)
	t.Cleanup(func() { _ = seen.Close() }) // before db is closed
	return seen, n
}

// counter is a driver that uses the connections of another database.
type counter struct {
	db *sqlx.DB
	n  *Asked
}

func (c counter) Driver() driver.Driver { return c.db.Driver() }

func (c counter) Connect(ctx context.Context) (driver.Conn, error) {
	lent, err := c.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	out := &countedConn{lent: lent, n: c.n}
	return out, lent.Raw(func(conn any) error {
		out.Conn = conn.(driver.Conn)
		return nil
	})
}

type countedConn struct {
	driver.Conn
	lent   *sql.Conn
	n      *Asked
	doomed bool // the commit must fail
	lossy  bool // the answer to the commit is lost
}

// ask counts a statement, and fails the one that must fail.
func (c *countedConn) ask(text string, args []driver.NamedValue) error {
	c.n.count(text)
	c.n.note(text, args)
	c.n.reach()
	if word := c.n.doomed.Load(); word != nil && strings.Contains(text, *word) {
		c.doomed = true
	}
	if l := c.n.lossy.Load(); l != nil && strings.Contains(text, l.word) && l.left.Add(-1) >= 0 {
		c.lossy = true
	}
	return c.n.fail(text)
}

type countedTx struct {
	driver.Tx
	c *countedConn
}

func (t countedTx) Commit() error {
	if t.c.doomed {
		return errors.Join(errDoomed, t.Rollback())
	}
	err := t.Tx.Commit()
	if err == nil && t.c.lossy {
		err = driver.ErrBadConn
	}
	t.c.lossy = false
	return err
}

func (c *countedConn) Close() error { return c.lent.Close() }

func (c *countedConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	c.n.Transactions.Add(1)
	c.doomed = false
	tx, err := c.Conn.(driver.ConnBeginTx).BeginTx(ctx, opts)
	return countedTx{tx, c}, err
}

func (c *countedConn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	if err := c.ask(text, args); err != nil {
		return nil, err
	}
	return c.Conn.(driver.ExecerContext).ExecContext(ctx, text, args)
}

func (c *countedConn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	if err := c.ask(text, args); err != nil {
		return nil, err
	}
	return c.Conn.(driver.QueryerContext).QueryContext(ctx, text, args)
}

func (c *countedConn) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	s, err := c.Conn.(driver.ConnPrepareContext).PrepareContext(ctx, text)
	return countedStmt{s, c, text}, err
}

type countedStmt struct {
	driver.Stmt
	c    *countedConn
	text string
}

func (s countedStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	if err := s.c.ask(s.text, args); err != nil {
		return nil, err
	}
	return s.Stmt.(driver.StmtExecContext).ExecContext(ctx, args)
}

func (s countedStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	if err := s.c.ask(s.text, args); err != nil {
		return nil, err
	}
	return s.Stmt.(driver.StmtQueryContext).QueryContext(ctx, args)
}
