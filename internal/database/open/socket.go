package open

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
)

const (
	// listenSilence is the [database.Silence] of a connection that waits for
	// notifications. It gets an answer every [listenPing].
	listenSilence = 2 * listenPing
	// grace is how long an answer may still take after the context of its statement has
	// ended: the driver asks the server to cancel the statement.
	grace = time.Second
)

// dialer dials sockets. The default keepalive of [net.Dialer] finds hosts that are
// gone.
type dialer struct {
	net.Dialer
	subscribed bool // to notifications
}

type socketKey struct{}

// DialContext implements the driver's DialerContext.
func (d *dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := d.Dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	s := &socket{Conn: c, limit: database.Silence}
	if at, ok := ctx.Value(socketKey{}).(**socket); ok {
		*at = s
	}
	if d.subscribed {
		s.limit = listenSilence
	}
	return s, nil
}

// DialTimeout implements the driver's Dialer.
func (d *dialer) DialTimeout(network, address string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return d.DialContext(ctx, network, address)
}

// socket is a network connection whose reads and writes fail when nothing is
// transferred for too long.
type socket struct {
	net.Conn

	mu    sync.Mutex
	limit time.Duration // 0: none
	end   time.Time     // when all fails, or the zero time
	other time.Time     // the driver's deadline while it connects, or the zero time
	watch func() bool   // stops watching the context of the last statement
	turn  int           // counts statements
}

// SetDeadline implements [net.Conn] for the driver.
func (s *socket) SetDeadline(t time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.other = t
	return s.Conn.SetDeadline(t)
}

// limitTo sets how long nothing may be transferred.
func (s *socket) limitTo(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limit = d
}

// begin begins a statement with a limit: reads and writes fail soon after the end of
// ctx, until the next begin or release.
func (s *socket) begin(ctx context.Context, limit time.Duration) {
	s.release()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limit = limit
	if ctx.Done() == nil {
		return
	}
	turn := s.turn
	s.watch = context.AfterFunc(ctx, func() { s.fail(turn) })
}

// release forgets the context of the last statement.
func (s *socket) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watch != nil {
		s.watch()
		s.watch = nil
	}
	s.turn++
	s.end = time.Time{}
}

// fail ends reads and writes of a statement soon.
func (s *socket) fail(turn int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turn != turn {
		return // it was complete
	}
	s.end = time.Now().Add(grace)
	_ = s.Conn.SetDeadline(s.end)
}

// arm sets the deadline of the next transfer: half of the limit, because each is
// tried twice. A process that was suspended for longer than its limit still reads
// what has arrived.
func (s *socket) arm() (last bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !s.end.IsZero():
		_ = s.Conn.SetDeadline(s.end)
		return true
	case s.limit == 0, !s.other.IsZero():
		return true
	}
	_ = s.Conn.SetDeadline(time.Now().Add(s.limit / 2))
	return false
}

// Read implements [net.Conn].
func (s *socket) Read(b []byte) (int, error) {
	last := s.arm()
	n, err := s.Conn.Read(b)
	if last || n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		return n, err
	}
	s.arm()
	return s.Conn.Read(b)
}

// Write implements [net.Conn].
func (s *socket) Write(b []byte) (int, error) {
	last := s.arm()
	n, err := s.Conn.Write(b)
	if last || n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		return n, err
	}
	s.arm()
	return s.Conn.Write(b)
}
