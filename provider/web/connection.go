package web

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"go.mau.fi/whatsmeow"

	"github.com/trunklinehq/trunkline/provider"
)

// connection is the state of a session's connection, which all parts of the
// session share. Only [connectionLoop] opens it and decides when to reopen it.
type connection struct {
	ref provider.Reference
	log *slog.Logger
	now func() time.Time

	ctx     context.Context // ends with the session
	cancel  context.CancelFunc
	done    chan struct{} // closed when the loop has ended
	signals chan signal

	mu            sync.Mutex
	client        *whatsmeow.Client  // nil: not paired and not being paired
	attempts      int                // connections so far
	cancelAttempt context.CancelFunc // ends the work of the present connection; nil: there is none
	up            chan struct{}      // closed while the client is connected
	isUp          bool
	idle          bool      // the loop does not connect by itself
	lastSeen      time.Time // when the network last sent something
	closed        bool

	tasks sync.WaitGroup
}

// signal reports something to the loop.
type signal struct {
	from *whatsmeow.Client // the loop ignores signals of earlier clients; nil: of no client
	what any               // an event of whatsmeow, or link or storeFailed
}

type (
	link        struct{ phone string } // a user wants to pair the reference
	storeFailed struct{}               // an event could not be stored: the network has to send it again
)

// maxSignals is how many signals may wait for the loop, which handles them at
// once unless the database hangs.
const maxSignals = 64

var errClosed = errors.New("web: the session is closed")

func newConnection(ctx context.Context, ref provider.Reference, o *Options) *connection {
	conn := &connection{
		ref: ref, log: o.Logger.With(slog.Int64("reference", int64(ref.ID))), now: o.Now,
		done: make(chan struct{}), signals: make(chan signal, maxSignals), up: make(chan struct{}),
	}
	conn.ctx, conn.cancel = context.WithCancel(context.WithoutCancel(ctx))
	return conn
}

// signal hands something to the loop.
func (conn *connection) signal(ctx context.Context, g signal) error {
	select {
	case conn.signals <- g:
		return nil
	case <-conn.done:
		return errClosed
	case <-conn.ctx.Done():
		return errClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// leased reports whether this process may still act for the reference.
func (conn *connection) leased() bool { return leased(conn.ref) }

// spawn runs fn in the background. The session waits for it when it closes.
func (conn *connection) spawn(what string, fn func()) {
	conn.mu.Lock()
	defer conn.mu.Unlock()
	if conn.closed {
		return
	}
	conn.tasks.Go(func() {
		defer conn.recovered(what)
		fn()
	})
}

// recovered keeps a panic from ending the process.
func (conn *connection) recovered(what string) {
	if p := recover(); p != nil {
		conn.log.Error("a session panicked", slog.String("with", what), slog.Any("panic", p))
	}
}

// shutDown closes the connection and waits for the background tasks.
func (conn *connection) shutDown() {
	conn.replaceClient(nil)
	conn.mu.Lock()
	conn.closed = true
	conn.mu.Unlock()
	conn.tasks.Wait()
}

// connected waits until the client is connected, and returns it.
func (conn *connection) connected(ctx context.Context) (*whatsmeow.Client, error) {
	conn.mu.Lock()
	up, c, idle := conn.up, conn.client, conn.idle
	conn.mu.Unlock()
	if conn.ctx.Err() != nil {
		return nil, &provider.Temporary{Err: errClosed}
	}
	if c == nil || idle {
		return nil, &provider.Temporary{Err: whatsmeow.ErrNotLoggedIn}
	}
	if err := ctx.Err(); err != nil {
		return nil, &provider.Temporary{Err: err}
	}
	if !conn.leased() {
		return nil, &provider.Temporary{Err: errLost}
	}
	timeout := time.NewTimer(connectTimeout)
	defer timeout.Stop()
	select {
	case <-up:
	case <-conn.ctx.Done():
		return nil, &provider.Temporary{Err: errClosed}
	case <-ctx.Done():
		return nil, &provider.Temporary{Err: ctx.Err()}
	case <-timeout.C:
		return nil, &provider.Temporary{Err: whatsmeow.ErrNotConnected, After: time.Second}
	}
	if !conn.leased() {
		return nil, &provider.Temporary{Err: errLost}
	}
	return c, nil
}

// connectTimeout is how long a call waits for a client that reconnects.
const connectTimeout = 10 * time.Second

// setUp records whether the client is connected.
func (conn *connection) setUp(up bool) {
	conn.mu.Lock()
	defer conn.mu.Unlock()
	if conn.isUp == up {
		return
	}
	if conn.isUp = up; up {
		close(conn.up)
	} else {
		conn.up = make(chan struct{})
	}
}

// setIdle records whether the loop waits until a user links the reference or
// opens it again.
func (conn *connection) setIdle(idle bool) {
	conn.mu.Lock()
	defer conn.mu.Unlock()
	conn.idle = idle
}

func (conn *connection) isIdle() bool {
	conn.mu.Lock()
	defer conn.mu.Unlock()
	return conn.idle
}

// touch records that the network has just sent something.
func (conn *connection) touch() {
	conn.mu.Lock()
	defer conn.mu.Unlock()
	conn.lastSeen = conn.now()
}

// silentFor is how long the network has sent nothing.
func (conn *connection) silentFor() time.Duration {
	conn.mu.Lock()
	defer conn.mu.Unlock()
	return conn.now().Sub(conn.lastSeen)
}

// replaceClient drops the client's connection and sets another client, or none.
// whatsmeow cannot use a client again after its device was deleted.
func (conn *connection) replaceClient(c *whatsmeow.Client) {
	conn.mu.Lock()
	old := conn.client
	conn.client = c
	conn.mu.Unlock()
	conn.drop(old)
}

// beginAttempt returns the context of a new connection. It does not end with the
// session's context: whatsmeow has to close its sockets before it ends.
func (conn *connection) beginAttempt() context.Context {
	ctx, cancel := context.WithCancel(context.WithoutCancel(conn.ctx))
	conn.mu.Lock()
	defer conn.mu.Unlock()
	if conn.cancelAttempt != nil {
		conn.cancelAttempt()
	}
	conn.cancelAttempt = cancel
	conn.attempts++
	return ctx
}

// drop closes the client's connection. whatsmeow then acknowledges nothing more
// of what that connection delivered.
func (conn *connection) drop(c *whatsmeow.Client) {
	conn.setUp(false)
	if c != nil {
		c.Disconnect()
	}
	conn.endAttempt()
}

// endAttempt ends the work of the present connection.
func (conn *connection) endAttempt() {
	conn.mu.Lock()
	defer conn.mu.Unlock()
	if conn.cancelAttempt != nil {
		conn.cancelAttempt()
		conn.cancelAttempt = nil
	}
}

// attempt is the number of the connection that is open or being opened; 0: there
// is none.
func (conn *connection) attempt() int {
	conn.mu.Lock()
	defer conn.mu.Unlock()
	if conn.cancelAttempt == nil {
		return 0
	}
	return conn.attempts
}

// abort drops a connection that delivered something that could not be stored,
// and has the loop reconnect. whatsmeow acknowledges some events whatever a
// handler returns, and later events must not be stored before the one that
// failed.
func (conn *connection) abort(c *whatsmeow.Client) {
	conn.drop(c)
	_ = conn.signal(conn.ctx, signal{c, storeFailed{}})
}

// abortCurrent aborts the connection of the present client.
func (conn *connection) abortCurrent() {
	if c := conn.current(); c != nil {
		conn.abort(c)
	}
}

// current is the present client; nil when the reference is not paired.
func (conn *connection) current() *whatsmeow.Client {
	conn.mu.Lock()
	defer conn.mu.Unlock()
	return conn.client
}
