package simulation_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/server"
)

// errDead is returned to all that a killed process does.
var errDead = errors.New("simulation: the process was killed")

// fullError is SQLite's error when the disk is full.
type fullError struct{}

func (fullError) Error() string { return "database or disk is full (13)" }

// Code returns SQLITE_FULL. See https://sqlite.org/rescode.html.
func (fullError) Code() int { return 13 }

// process is a server. When it is killed, its transactions are undone and its
// connections closed, and what still runs of it reaches nothing.
type process struct {
	w      *world
	number int
	server *server.Server
	db     *sqlx.DB
	stop   context.CancelFunc
	ended  chan error

	commits atomic.Int64
	killed  chan struct{}
	once    sync.Once

	mu        sync.Mutex
	killAt    int64 // the commit at which it is killed; 0: none
	killAfter bool  // the commit succeeds
	conns     map[net.Conn]bool
	stalled   time.Time      // the database does not answer until then
	full      time.Time      // the disk is full until then
	early     bool           // that shows at some statements, not at the commit
	written   int            // statements that wrote meanwhile
	lossy     map[int64]bool // commits whose answer is lost
}

type processKey struct{}

// processOf returns the process that a context belongs to.
func processOf(ctx context.Context) *process {
	p, _ := ctx.Value(processKey{}).(*process)
	return p
}

// start starts a server over the database of the world. It returns an error if the
// process was killed while it started.
func (w *world) start(number int) (*process, error) {
	p := &process{w: w, number: number, killed: make(chan struct{}), conns: map[net.Conn]bool{}, lossy: map[int64]bool{}, ended: make(chan error, 1)}
	d := w.draw("process", number)
	if w.faulty() && w.kill && d.chance(60) {
		p.killAt, p.killAfter = 1+d.upTo(150), d.chance(50)
	}
	if w.faulty() && d.chance(40) {
		for range 5 {
			p.lossy[1+d.upTo(200)] = true
		}
	}
	p.db = sqlx.NewDb(sql.OpenDB(connector{p}), "sqlite")
	p.db.SetMaxOpenConns(8)
	p.db.SetMaxIdleConns(8)
	cfg := server.Config{
		DB: p.db, Secrets: []server.Secret{"a secret for tests of 32 bytes and more"}, Version: "1.2.3", Logger: w.log,
		WebhookAllow: []string{"10.0.0.0/8"}, Exclusive: w.nodes == 1, MCPLimit: -1,
		Nodes: []flow.NodeType{
			{Name: "x.once", Text: "Calls at most once.", Outputs: []flow.Output{{Name: "out", Text: "done"}}, Run: flow.NodeFunc(p.callOnce)},
			{Name: "x.repeat", Text: "Calls until there is a result.", Outputs: []flow.Output{{Name: "out", Text: "done"}}, Run: flow.NodeFunc(p.call), Repeat: true},
		},
		Providers: []provider.Provider{&line{p: p, kind: "provider-repeat"}, onceLine{&line{p: p, kind: "provider-once"}}},
	}
	ctx, stop := context.WithCancel(context.WithValue(context.Background(), processKey{}, p))
	p.stop = stop
	s, err := server.New(ctx, cfg)
	if err != nil {
		p.kill()
		stop()
		_ = p.db.Close()
		return nil, err
	}
	p.server = s
	if w.faulty() && d.chance(10) {
		p.fill(time.Duration(1+d.upTo(10))*time.Second, d.chance(50))
	}
	go func() { p.ended <- s.Run(ctx) }()
	return p, nil
}

// callee is the configuration of a node that calls something.
type callee struct {
	Text string `json:"text" doc:"What it is about." maxLength:"100"`
}

// callOnce is a call that must not be repeated.
func (p *process) callOnce(ctx context.Context, c flow.NodeCall, in callee) (flow.NodeResult, error) {
	if p.dead() {
		return flow.NodeResult{}, errDead
	}
	p.w.mu.Lock()
	p.w.once[in.Text]++
	p.w.mu.Unlock()
	return p.call(ctx, c, in)
}

// call is a call that takes a while, and may fail.
func (p *process) call(ctx context.Context, c flow.NodeCall, in callee) (flow.NodeResult, error) {
	d := p.w.draw("call", c.Node, in.Text, c.Attempt)
	pause(ctx, d.upTo(2000))
	if p.w.faulty() && d.chance(10) {
		return flow.NodeResult{}, &flow.Error{Code: flow.CodeNodeFailed, Message: "it failed"}
	}
	return flow.NodeResult{Output: "out"}, ctx.Err()
}

// kill ends the process as signal 9 does.
func (p *process) kill() {
	p.once.Do(func() {
		close(p.killed)
		p.mu.Lock()
		defer p.mu.Unlock()
		for c := range p.conns {
			_ = c.Close()
		}
	})
}

func (p *process) dead() bool {
	select {
	case <-p.killed:
		return true
	default:
		return false
	}
}

// dial opens a connection of the process to a receiver.
func (p *process) dial(to *receiver) (net.Conn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead() {
		return nil, errDead
	}
	here, there := net.Pipe()
	if !to.accept(&link{there, p}) {
		return nil, errors.New("connection refused")
	}
	p.conns[here] = true
	return here, nil
}

// link is a connection of a process, as the receiver has it.
type link struct {
	net.Conn

	p *process
}

// mayRepeat reports whether the process could lose the record of what it did.
func (p *process) mayRepeat() bool {
	p.mu.Lock()
	lossy := len(p.lossy) > 0
	p.mu.Unlock()
	return lossy || p.dead() || p.mayLoseLeases()
}

// stall lets the database not answer for a while, as if the process were suspended.
func (p *process) stall(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stalled = time.Now().Add(d)
}

// mayLoseLeases reports whether the process could not tell others at some time that it
// was alive.
func (p *process) mayLoseLeases() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.stalled.IsZero() || p.w.nodes > 1 && !p.full.IsZero()
}

// fill fills the disk for a while.
func (p *process) fill(d time.Duration, early bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.full, p.early = time.Now().Add(d), early
}

// isFull reports whether a statement or a commit finds the disk full. Some statements may
// find room before one does not.
func (p *process) isFull(statement bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !time.Now().Before(p.full) || p.early != statement {
		return false
	}
	p.written++
	return !statement || p.written%4 == 0
}

// enter waits until the database answers.
func (p *process) enter() error {
	for {
		p.mu.Lock()
		wait := time.Until(p.stalled)
		p.mu.Unlock()
		if p.dead() {
			return errDead
		}
		if wait <= 0 {
			return nil
		}
		select {
		case <-time.After(wait):
		case <-p.killed:
		}
	}
}

// commit decides what becomes of a commit: do makes it, undo does not.
func (p *process) commit(do, undo func() error) error {
	if p.dead() {
		_ = undo()
		return errDead
	}
	if p.isFull(false) {
		_ = undo()
		return fullError{}
	}
	n := p.commits.Add(1)
	p.mu.Lock()
	last, lossy := n == p.killAt && p.w.faulty(), p.lossy[n] && p.w.faulty()
	p.mu.Unlock()
	switch {
	case last && p.killAfter:
		_ = do()
		p.kill()
		return errDead
	case last:
		_ = undo()
		p.kill()
		return errDead
	case lossy:
		if err := do(); err != nil {
			return err
		}
		return driver.ErrBadConn
	}
	return do()
}

// connector opens connections of a process to the database of the world.
type connector struct{ p *process }

func (c connector) Driver() driver.Driver { return c.p.w.base.Driver() }

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	if c.p.dead() {
		return nil, errDead
	}
	lent, err := c.p.w.base.Conn(context.WithoutCancel(ctx))
	if err != nil {
		return nil, err
	}
	out := &conn{p: c.p, lent: lent}
	return out, lent.Raw(func(conn any) error {
		out.Conn = conn.(driver.Conn)
		return nil
	})
}

// conn is a connection of a process.
type conn struct {
	driver.Conn
	p    *process
	lent *sql.Conn
	inTx bool
}

func (c *conn) Close() error { return c.lent.Close() }

// statement runs a statement, which is a transaction of its own outside of one.
func statement[T any](c *conn, text string, run func() (T, error)) (out T, err error) {
	if c.inTx {
		if c.p.dead() {
			return out, errDead
		}
		if writes(text) && c.p.isFull(true) {
			return out, fullError{}
		}
		return run()
	}
	if err := c.p.enter(); err != nil {
		return out, err
	}
	if !writes(text) {
		return run()
	}
	err = c.p.commit(func() (err error) {
		out, err = run()
		return err
	}, func() error { return nil })
	if rows, ok := any(out).(driver.Rows); ok && err != nil && rows != nil {
		_ = rows.Close() // else they would lock the database
	}
	return out, err
}

// writes reports whether a statement writes.
func writes(text string) bool {
	text = strings.TrimSpace(text)
	return !strings.HasPrefix(text, "SELECT") && !strings.HasPrefix(text, "PRAGMA") && !strings.HasPrefix(text, "EXPLAIN")
}

func (c *conn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	if err := c.p.enter(); err != nil {
		return nil, err
	}
	tx, err := c.Conn.(driver.ConnBeginTx).BeginTx(ctx, opts)
	if err != nil {
		return nil, err
	}
	c.inTx = true
	return &transaction{tx, c}, nil
}

func (c *conn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	return statement(c, text, func() (driver.Result, error) { return c.Conn.(driver.ExecerContext).ExecContext(ctx, text, args) })
}

func (c *conn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	return statement(c, text, func() (driver.Rows, error) { return c.Conn.(driver.QueryerContext).QueryContext(ctx, text, args) })
}

func (c *conn) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	s, err := c.Conn.(driver.ConnPrepareContext).PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	return &prepared{s, c, text}, nil
}

// ResetSession and IsValid are asked before a connection is used again.
func (c *conn) ResetSession(ctx context.Context) error {
	c.inTx = false
	return c.Conn.(driver.SessionResetter).ResetSession(ctx)
}

func (c *conn) IsValid() bool { return c.Conn.(driver.Validator).IsValid() }

type transaction struct {
	driver.Tx
	c *conn
}

func (t *transaction) Commit() error {
	t.c.inTx = false
	return t.c.p.commit(t.Tx.Commit, t.Tx.Rollback)
}

func (t *transaction) Rollback() error {
	t.c.inTx = false
	return t.Tx.Rollback()
}

type prepared struct {
	driver.Stmt
	c    *conn
	text string
}

func (s *prepared) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	return statement(s.c, s.text, func() (driver.Result, error) { return s.Stmt.(driver.StmtExecContext).ExecContext(ctx, args) })
}

func (s *prepared) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return statement(s.c, s.text, func() (driver.Rows, error) { return s.Stmt.(driver.StmtQueryContext).QueryContext(ctx, args) })
}

func (p *process) String() string { return fmt.Sprint("process ", p.number) }
