package tcpline

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/trunklinehq/trunkline/provider"
)

const (
	connectWait = 5 * time.Second // how long a send waits for a connection
	reconnect   = time.Second     // between two attempts to connect
)

var (
	errClosed   = errors.New("tcpline: the session is closed")
	errNoAnswer = errors.New("tcpline: the connection ended before the answer")
	errNoLink   = errors.New("tcpline: the gateway cannot be reached")
)

// session is an open reference.
type session struct {
	ref     provider.Reference
	gateway string
	inbox   provider.Inbox
	ctx     context.Context // of the connection: ends with Close
	stop    context.CancelFunc
	done    chan struct{} // closed when run has ended

	links chan *link // has the connection while there is one and no write is in progress

	mu   sync.Mutex
	acks map[string]chan frame // by id of the sent frame: the waiting sends
}

// link is one connection.
type link struct {
	conn net.Conn
	out  *json.Encoder
	gone chan struct{} // closed when the connection has ended
}

// write writes a frame. The caller must hold the link. After errNoLink nothing was
// written.
func (l *link) write(f frame) error {
	if l.conn.SetWriteDeadline(time.Now().Add(connectWait)) != nil { // the connection is closed
		return errNoLink
	}
	return l.out.Encode(f)
}

// run keeps the reference connected.
func (s *session) run() {
	defer close(s.done)
	for s.ctx.Err() == nil {
		if s.ref.Leased != nil && !s.ref.Leased() { // another process has the reference
			return
		}
		conn, err := (&net.Dialer{Timeout: connectWait}).DialContext(s.ctx, "tcp", s.gateway)
		if err == nil {
			s.read(&link{conn: conn, out: json.NewEncoder(conn), gone: make(chan struct{})})
			if s.ctx.Err() == nil {
				continue
			}
		}
		select {
		case <-time.After(reconnect):
		case <-s.ctx.Done():
		}
	}
}

// read reads frames from the gateway until the connection ends.
func (s *session) read(l *link) {
	closed := context.AfterFunc(s.ctx, func() { _ = l.conn.Close() })
	s.report(provider.Connected)
	s.links <- l
	for in := json.NewDecoder(l.conn); ; {
		var f frame
		if in.Decode(&f) != nil || s.take(f) != nil {
			break
		}
	}
	closed()
	_ = l.conn.Close() // ends a write in progress
	<-s.links
	close(l.gone) // a send that begins now waits for the next connection
	s.report(provider.Connecting)
}

// take handles a frame. It acknowledges a message after it is stored. If it cannot
// be stored, the connection ends, and the gateway repeats the message on the next
// one.
func (s *session) take(f frame) error {
	if f.Ack != "" {
		s.mu.Lock()
		defer s.mu.Unlock()
		if waiting, ok := s.acks[f.Ack]; ok {
			delete(s.acks, f.Ack)
			waiting <- f
		}
		return nil
	}
	from, err := Provider{}.Address(f.From)
	if err == nil && f.ID != "" {
		err = s.inbox.Receive(s.ctx, s.ref.ID, []provider.Event{&provider.Message{
			ID: f.ID, Chat: from, From: provider.Contact{Address: from}, At: time.Now(), Content: provider.Text{Text: f.Text},
		}})
		if err != nil {
			return err
		}
	}
	l := <-s.links
	defer func() { s.links <- l }()
	return l.write(frame{Ack: f.ID})
}

// report reports the state of the connection.
func (s *session) report(state provider.ConnectionState) {
	_ = s.inbox.Receive(s.ctx, s.ref.ID, []provider.Event{&provider.Connection{State: state, At: time.Now()}}) // an error does not matter: the next report replaces this one
}

// Send sends a text to the gateway and waits for the acknowledgement.
func (s *session) Send(ctx context.Context, out provider.Outbound) (provider.Receipt, error) {
	text, ok := out.Content.(provider.Text)
	if !ok {
		return provider.Receipt{}, &provider.Unsupported{What: "all but texts"}
	}
	if out.To.Group {
		return provider.Receipt{}, &provider.Unsupported{What: "groups"}
	}
	if err := errors.Join(ctx.Err(), s.ctx.Err()); err != nil {
		return provider.Receipt{}, &provider.Temporary{Err: err}
	}
	answer := make(chan frame, 1)
	s.mu.Lock()
	s.acks[out.ID] = answer
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.acks, out.ID)
	}()
	var l *link
	select {
	case l = <-s.links:
	case <-time.After(connectWait):
		return provider.Receipt{}, &provider.Temporary{Err: errNoLink}
	case <-ctx.Done():
		return provider.Receipt{}, &provider.Temporary{Err: ctx.Err()}
	case <-s.ctx.Done():
		return provider.Receipt{}, &provider.Temporary{Err: errClosed}
	}
	err := l.write(frame{ID: out.ID, To: out.To.ChatID, Text: text.Text})
	s.links <- l
	if errors.Is(err, errNoLink) {
		return provider.Receipt{}, &provider.Temporary{Err: err}
	}
	if err != nil {
		return provider.Receipt{}, &provider.Ambiguous{Err: err}
	}
	return s.outcome(ctx, l, out.ID, answer)
}

// outcome waits for the outcome of a message that was written.
func (s *session) outcome(ctx context.Context, l *link, id string, answer <-chan frame) (provider.Receipt, error) {
	select {
	case f := <-answer:
		switch f.Error {
		case "":
			return provider.Receipt{MessageID: id}, nil
		case "unknown":
			return provider.Receipt{}, &provider.BadRecipient{Code: f.Error, Message: "the gateway does not know the contact"}
		}
		return provider.Receipt{}, &provider.Rejected{Code: f.Error, Message: "the gateway refuses the message"}
	case <-l.gone:
		return provider.Receipt{}, &provider.Ambiguous{Err: errNoAnswer}
	case <-ctx.Done():
		return provider.Receipt{}, &provider.Ambiguous{Err: ctx.Err()}
	}
}

// Close ends the connection.
func (s *session) Close(ctx context.Context) error {
	s.stop()
	select {
	case <-s.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
