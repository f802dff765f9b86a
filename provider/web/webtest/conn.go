package webtest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"github.com/coder/websocket"
	"go.mau.fi/whatsmeow/types"
)

const (
	maxFrame = 1 << 24
	// linger is how long a connection may stay open after the last node.
	linger = 5 * time.Second
	// nudge is the id of a notification that follows the last node. The client
	// acknowledges it after it has handled the last node. If the connection were
	// closed earlier, the client might drop the node unread.
	nudge = "webtest-nudge"
)

// conn is a connection of a client. One goroutine reads and handles its nodes,
// another writes.
type conn struct {
	s *Server
	*stream
	opened time.Time
	ended  chan struct{} // closed when the reader is done

	mu     sync.Mutex
	outbox []node
	full   chan struct{} // holds one token while the outbox waits for the writer
	last   bool          // the last node is queued: no other follows

	// Guarded by the server's lock.
	device    *Device         // nil until logged in
	passkey   *passkeyPairing // nil: no passkey was asked for
	greeted   bool            // the server has offered pairing, accepted or refused the login
	active    bool            // the client wants what is queued for it
	deaf      bool
	conflict  *Conflict              // in which this is the older connection, or nil
	confirmed bool                   // the conflict was recorded
	waiters   map[string]func(*node) // handlers of answers to the server's queries, by id
}

func (s *Server) serveSocket(w http.ResponseWriter, r *http.Request) {
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		InsecureSkipVerify: true, // the origin is the network's, the host is this server
		CompressionMode:    websocket.CompressionDisabled,
	})
	if err != nil {
		return // Accept has answered
	}
	ws.SetReadLimit(maxFrame)
	c := &conn{
		s: s, stream: &stream{s: s, ws: ws}, opened: time.Now(), ended: make(chan struct{}),
		full: make(chan struct{}, 1), waiters: map[string]func(*node){},
	}
	s.mu.Lock()
	s.conns[c] = struct{}{}
	s.mu.Unlock()
	ctx, cancel := context.WithCancel(s.over)
	defer cancel()
	defer s.forget(c)
	s.log.DebugContext(ctx, "connection ended", slog.Any("error", c.run(ctx)))
}

// forget removes a connection from the server.
func (s *Server) forget(c *conn) {
	if problem := recover(); problem != nil {
		s.unsupported("panic: %v\n%s", problem, debug.Stack())
	}
	_ = c.ws.CloseNow()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
	for ref, waiting := range s.pending {
		if waiting == c {
			delete(s.pending, ref)
		}
	}
	if d := c.device; d != nil {
		d.left(c)
	}
	if c.conflict != nil {
		c.conflict.Until = time.Now()
	}
	close(c.ended)
	s.changed.ring()
}

// run serves the connection until it ends, and returns the reason.
func (c *conn) run(ctx context.Context) error {
	if err := c.handshake(ctx); err != nil {
		return fmt.Errorf("handshake: %w", err)
	}
	go c.write(ctx)
	c.begin()
	for {
		n, err := c.read(ctx)
		if err != nil {
			return err
		}
		c.s.log.DebugContext(ctx, "received", slog.String("tag", n.Tag), slog.String("type", str(n, "type")), slog.String("id", str(n, "id")))
		if n.Tag == "ack" && str(n, "id") == nudge {
			c.s.mu.Lock()
			c.confirm()
			c.s.mu.Unlock()
			return errors.New("the server ended the connection")
		}
		if c.accepts(n) {
			c.handle(n)
		}
	}
}

// accepts reports whether a node is handled. It is not if the connection is deaf,
// if the last node is queued, or if the test has intercepted the node.
func (c *conn) accepts(n *node) bool {
	c.mu.Lock()
	last := c.last
	c.mu.Unlock()
	c.s.mu.Lock()
	deaf, intercept, device := c.deaf || c.s.deaf, c.s.intercept, c.device
	c.s.mu.Unlock()
	return !deaf && !last && (intercept == nil || !intercept(device, n))
}

// send queues a node for the writer. It does not block.
func (c *conn) send(n node) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last {
		return
	}
	c.outbox = append(c.outbox, n)
	c.notify()
}

// farewell sends the last node, and closes the connection when the client has
// handled it.
func (c *conn) farewell(n node) {
	c.leave(n, node{Tag: "notification", Attrs: attrs{"from": types.ServerJID, "type": "webtest", "id": nudge}})
}

// leave sends the last nodes, after which the client closes the connection.
func (c *conn) leave(nodes ...node) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last {
		return
	}
	c.outbox = append(c.outbox, nodes...)
	c.last = true
	c.notify()
	time.AfterFunc(linger, c.closeOverdue)
}

// closeOverdue closes a connection that the client keeps open after the last
// node.
func (c *conn) closeOverdue() {
	c.s.mu.Lock()
	c.confirm()
	c.s.mu.Unlock()
	c.drop()
}

// confirm records the conflict in which this is the older connection. It is
// called when the client was still connected after the last node. A client that
// had already closed the connection, to reconnect, has no conflict. s.mu is held.
func (c *conn) confirm() {
	select {
	case <-c.ended:
		return
	default:
	}
	if c.conflict != nil && !c.confirmed {
		c.confirmed = true
		c.s.conflicts = append(c.s.conflicts, c.conflict)
		c.s.changed.ring()
	}
}

func (c *conn) notify() {
	select {
	case c.full <- struct{}{}:
	default:
	}
}

// drop closes the connection without sending what is queued. It does not block.
func (c *conn) drop() {
	c.mu.Lock()
	c.last, c.outbox = true, nil
	c.mu.Unlock()
	go func() { _ = c.ws.CloseNow() }()
}

func (c *conn) write(ctx context.Context) {
	for {
		select {
		case <-c.full:
		case <-ctx.Done():
			return
		}
		c.mu.Lock()
		nodes := c.outbox
		c.outbox = nil
		c.mu.Unlock()
		for i := range nodes {
			if err := c.writeNode(ctx, &nodes[i]); err != nil {
				_ = c.ws.CloseNow()
				return
			}
		}
	}
}
