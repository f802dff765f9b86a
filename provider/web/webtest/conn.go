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
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/proto/waWa6"
	"go.mau.fi/whatsmeow/types"
)

const (
	largestFrame = 1 << 24
	// linger is how long a connection stays open at most after the last node.
	linger = 5 * time.Second
	// nudge is the id of what follows the last node. The client acknowledges it
	// after it has handled that node; one that sees the end of the connection
	// earlier may drop the node unread.
	nudge = "webtest-nudge"
)

// conn is one websocket. A goroutine reads and handles, another writes.
type conn struct {
	s       *Server
	ws      *websocket.Conn
	payload *waWa6.ClientPayload
	noise   [32]byte // the client's static key
	opened  time.Time
	ended   chan struct{} // closed when the reader is done
	in      sealer        // of the reader

	mu     sync.Mutex
	out    sealer
	outbox []node
	full   chan struct{} // holds one token while the outbox waits for the writer
	last   bool          // the last node is on its way

	// Guarded by the server's lock.
	device    *Device // nil until logged in
	greeted   bool    // offered to be paired, logged in, or refused
	active    bool    // wants what is queued for it
	deaf      bool
	conflict  *Conflict              // in which this is the older connection, or nil
	confirmed bool                   // the conflict is one
	waiters   map[string]func(*node) // answers to what the server asked, by id

	unread []byte // of the reader: received and not yet part of a frame
}

func (s *Server) serveSocket(w http.ResponseWriter, r *http.Request) {
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		InsecureSkipVerify: true, // the origin is the network's, the host ours
		CompressionMode:    websocket.CompressionDisabled,
	})
	if err != nil {
		return // answered
	}
	ws.SetReadLimit(largestFrame)
	c := &conn{
		s: s, ws: ws, opened: time.Now(), ended: make(chan struct{}),
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

// forget takes a connection out of everything that knows it.
func (s *Server) forget(c *conn) {
	if problem := recover(); problem != nil {
		s.strange("panic: %v\n%s", problem, debug.Stack())
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

// run serves the connection until it ends, and says why it did.
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
			return errors.New("the client was told to go")
		}
		if c.hears(n) {
			c.handle(n)
		}
	}
}

// hears says whether the node is to be handled: not by a deaf connection, nor
// after the last word, nor when the test took it.
func (c *conn) hears(n *node) bool {
	c.mu.Lock()
	last := c.last
	c.mu.Unlock()
	c.s.mu.Lock()
	deaf, intercept, device := c.deaf || c.s.deaf, c.s.intercept, c.device
	c.s.mu.Unlock()
	return !deaf && !last && (intercept == nil || !intercept(device, n))
}

func (c *conn) read(ctx context.Context) (*node, error) {
	frame, err := c.readFrame(ctx)
	if err != nil {
		return nil, err
	}
	plain, err := c.in.open(frame, nil)
	if err != nil {
		return nil, fmt.Errorf("opening a frame: %w", err)
	}
	if plain, err = waBinary.Unpack(plain); err != nil {
		return nil, fmt.Errorf("unpacking a frame: %w", err)
	}
	n, err := waBinary.Unmarshal(plain)
	if err != nil {
		return nil, fmt.Errorf("reading a node: %w", err)
	}
	return n, nil
}

// send queues a node for the writer. It never waits.
func (c *conn) send(n node) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last {
		return
	}
	c.outbox = append(c.outbox, n)
	c.notify()
}

// farewell sends the last node, and closes when the client has handled it.
func (c *conn) farewell(n node) {
	c.leave(n, node{Tag: "notification", Attrs: attrs{"from": types.ServerJID, "type": "webtest", "id": nudge}})
}

// leave sends the last nodes, after which the client closes.
func (c *conn) leave(nodes ...node) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last {
		return
	}
	c.outbox = append(c.outbox, nodes...)
	c.last = true
	c.notify()
	time.AfterFunc(linger, c.outstayed)
}

// outstayed ends a connection that the client keeps after the last node.
func (c *conn) outstayed() {
	c.s.mu.Lock()
	c.confirm()
	c.s.mu.Unlock()
	c.drop()
}

// confirm records the conflict in which this is the older connection: its
// client was there after it was told. One that had closed it, as a client does
// that connects again, never gets there. s.mu is held.
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

// drop closes the connection without a word, not even those that wait to be
// sent. It does not wait.
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

func (c *conn) writeNode(ctx context.Context, n *node) error {
	c.s.log.DebugContext(ctx, "sending", slog.String("tag", n.Tag), slog.String("type", str(n, "type")), slog.String("id", str(n, "id")))
	plain, err := waBinary.Marshal(*n)
	if err != nil {
		c.s.strange("node %s cannot be sent: %v", n.Tag, err)
		return nil
	}
	return c.writeFrame(ctx, c.out.seal(plain, nil))
}
