package open

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"net"
	"sync/atomic"

	"github.com/trunklinehq/trunkline/internal/database"
)

// conn is a connection of lib/pq that is not used again when it cannot be relied
// on: its server has become a standby or read-only, is shut down, or did not answer
// within the context of a statement. A server that does not answer at all ends it
// (see [socket]); lib/pq would wait for as long as the connection stands.
//
// Its transactions are as the database wants them: lib/pq begins each with READ
// WRITE, so that transactions would write where single statements cannot.
type conn struct {
	pqConn
	socket *socket
	bad    atomic.Bool
	inTx   bool
}

// pqConn is what a connection of lib/pq implements.
type pqConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.NamedValueChecker
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// begin begins what the server answers.
func (c *conn) begin(ctx context.Context) {
	silence := database.SilenceOf(ctx)
	if c.inTx {
		silence = database.RequestSilence(ctx)
	}
	c.socket.begin(ctx, silence)
}

// judge marks the connection if err says that it cannot be relied on.
func (c *conn) judge(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	var lost net.Error
	if ctx.Err() != nil || errors.As(err, &lost) || database.IsMoved(err) {
		c.bad.Store(true)
	}
	return err
}

// BeginTx implements [driver.ConnBeginTx].
func (c *conn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	c.inTx = true
	c.begin(ctx)
	// BeginTx of lib/pq says READ WRITE, and a connection that has begun a transaction
	// with it must not begin another without: its commit would panic.
	started, err := c.pqConn.Begin() //nolint:staticcheck // see above
	if mode := modeOf(opts); err == nil && mode != "" {
		if _, err = c.pqConn.ExecContext(ctx, "SET TRANSACTION"+mode, nil); err != nil {
			_ = started.Rollback() // if it fails, the connection is bad
		}
	}
	if err != nil {
		c.inTx = false
		return nil, c.judge(ctx, err)
	}
	return &tx{on: started, conn: c, ctx: context.WithoutCancel(ctx)}, nil
}

// modeOf returns the options of a transaction as PostgreSQL has them, which refuses
// those that it does not have. See
// https://www.postgresql.org/docs/current/sql-set-transaction.html.
func modeOf(opts driver.TxOptions) (mode string) {
	if level := sql.IsolationLevel(opts.Isolation); level != sql.LevelDefault {
		mode = " ISOLATION LEVEL " + level.String()
	}
	if opts.ReadOnly {
		mode += " READ ONLY"
	}
	return mode
}

// ExecContext implements [driver.ExecerContext].
func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	c.begin(ctx)
	res, err := c.pqConn.ExecContext(ctx, query, args)
	return res, c.judge(ctx, err)
}

// QueryContext implements [driver.QueryerContext].
func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	c.begin(ctx)
	rows, err := c.pqConn.QueryContext(ctx, query, args)
	return rows, c.judge(ctx, err)
}

// PrepareContext implements [driver.ConnPrepareContext].
func (c *conn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	c.begin(ctx)
	prepared, err := c.pqConn.PrepareContext(ctx, query)
	if err != nil {
		return nil, c.judge(ctx, err)
	}
	return &stmt{pqStmt: prepared.(pqStmt), conn: c}, nil
}

// Ping implements [driver.Pinger].
func (c *conn) Ping(ctx context.Context) error {
	c.begin(ctx)
	return c.judge(ctx, c.pqConn.Ping(ctx))
}

// ResetSession implements [driver.SessionResetter].
func (c *conn) ResetSession(ctx context.Context) error {
	if c.bad.Load() {
		return driver.ErrBadConn
	}
	return c.pqConn.ResetSession(ctx)
}

// IsValid implements [driver.Validator]. The pool calls it when a connection comes
// back.
func (c *conn) IsValid() bool {
	c.socket.release()
	return !c.bad.Load() && c.pqConn.IsValid()
}

// Close implements [driver.Conn].
func (c *conn) Close() error {
	c.socket.release()
	c.socket.limitTo(grace)
	return c.pqConn.Close()
}

// stmt is a prepared statement of a [conn].
type stmt struct {
	pqStmt
	conn *conn
}

// pqStmt is what a statement of lib/pq implements.
type pqStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// ExecContext implements [driver.StmtExecContext].
func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	s.conn.begin(ctx)
	res, err := s.pqStmt.ExecContext(ctx, args)
	return res, s.conn.judge(ctx, err)
}

// QueryContext implements [driver.StmtQueryContext].
func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	s.conn.begin(ctx)
	rows, err := s.pqStmt.QueryContext(ctx, args)
	return rows, s.conn.judge(ctx, err)
}

// tx is a transaction of a [conn].
type tx struct {
	on   driver.Tx
	conn *conn
	ctx  context.Context // of its begin, for [database.SilenceOf]; it does not end
}

// Commit implements [driver.Tx].
func (t *tx) Commit() error { return t.end(t.on.Commit) }

// Rollback implements [driver.Tx].
func (t *tx) Rollback() error { return t.end(t.on.Rollback) }

func (t *tx) end(do func() error) error {
	t.conn.begin(t.ctx)
	t.conn.inTx = false
	return t.conn.judge(t.ctx, do())
}
