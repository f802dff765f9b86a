package simulation_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/trunklinehq/trunkline/provider"
)

// network is the chat network of one reference, with what its contacts were shown.
type network struct {
	w    *world
	ref  int
	name string

	mu       sync.Mutex
	sessions []*session
	shown    map[string][]string   // by contact: texts, each once
	known    map[string]bool       // ids of messages that were shown
	attempts map[string]int        // by text
	twice    []string              // texts that were shown again
	senders  map[string][]*process // by text: what sent it
	doubted  map[string]bool       // by text: a server was told that nobody knows
}

// line is a kind of reference whose messages have ids of the sender's: a repeated
// message is recognized.
type line struct {
	p    *process
	kind provider.Kind
}

// onceLine is a kind of reference that shows each message that it gets.
type onceLine struct{ l *line }

func (o onceLine) Kind() provider.Kind                         { return o.l.Kind() }
func (o onceLine) Capabilities() provider.Capabilities         { return o.l.Capabilities() }
func (o onceLine) Settings() []provider.Setting                { return o.l.Settings() }
func (o onceLine) Address(id string) (provider.Address, error) { return o.l.Address(id) }
func (o onceLine) Open(ctx context.Context, ref provider.Reference, inbox provider.Inbox) (provider.Session, error) {
	return o.l.Open(ctx, ref, inbox)
}
func (o onceLine) Forget(ctx context.Context, ref provider.ReferenceID) error { return nil }

func (l *line) Kind() provider.Kind { return l.kind }

func (l *line) Capabilities() provider.Capabilities {
	return provider.Capabilities{Send: []string{"text"}}
}

func (l *line) Settings() []provider.Setting { return nil }

var chatID = regexp.MustCompile(`^[0-9]{5,15}$`)

func (l *line) Address(id string) (provider.Address, error) {
	if lid, ok := strings.CutSuffix(id, "@lid"); ok && chatID.MatchString(lid) {
		return provider.Address{ChatID: id, LID: lid}, nil
	}
	if id = strings.TrimSuffix(id, "@s.whatsapp.net"); !chatID.MatchString(id) {
		return provider.Address{}, &provider.BadRecipient{Message: "no number"}
	}
	return provider.Address{ChatID: id + "@s.whatsapp.net", Phone: id}, nil
}

func (l *line) NewMessageID() string { return l.p.w.id() }

func (l *line) Forget(context.Context, provider.ReferenceID) error { return nil }

func (l *line) Open(ctx context.Context, ref provider.Reference, inbox provider.Inbox) (provider.Session, error) {
	n := l.p.w.networkOf(int(ref.ID))
	s := &session{l: l, n: n, ref: ref, inbox: inbox, closed: make(chan struct{})}
	n.mu.Lock()
	for _, other := range n.sessions {
		if other.open() {
			l.p.w.breach("reference %d is connected in %v and %v at once", ref.ID, other.l.p, l.p)
		}
	}
	n.sessions = append(n.sessions, s)
	n.mu.Unlock()
	go func() {
		_ = inbox.Receive(context.WithoutCancel(ctx), ref.ID, []provider.Event{&provider.Connection{State: provider.Connected, At: time.Now()}})
	}()
	return s, nil
}

// session is a connection to a network.
type session struct {
	l      *line
	n      *network
	ref    provider.Reference
	inbox  provider.Inbox
	once   sync.Once
	closed chan struct{}
}

// open reports whether the session has a connection.
func (s *session) open() bool {
	select {
	case <-s.closed:
		return false
	default:
		return !s.l.p.dead() && (s.ref.Leased == nil || s.ref.Leased())
	}
}

func (s *session) Close(context.Context) error {
	s.once.Do(func() { close(s.closed) })
	return nil
}

// Send shows a message to a contact, unless the seed wants something else.
func (s *session) Send(ctx context.Context, out provider.Outbound) (provider.Receipt, error) {
	receipt, err := s.send(ctx, out)
	if _, ok := errors.AsType[*provider.Ambiguous](err); ok {
		s.n.mu.Lock()
		defer s.n.mu.Unlock()
		s.n.doubted[out.Content.(provider.Text).Text] = true
	}
	return receipt, err
}

// uncertain reports whether a server could not know if a text was shown: the network left
// it in doubt, or the process was killed, or lost its lease, between its note that it
// begins and the outcome. Without an attempt it may have been any process.
func (n *network) uncertain(text string) bool {
	by := n.senders[text]
	if len(by) == 0 {
		by = n.w.processes
	}
	return n.doubted[text] || slices.ContainsFunc(by, func(p *process) bool { return p.dead() || p.mayLoseLeases() })
}

func (s *session) send(ctx context.Context, out provider.Outbound) (provider.Receipt, error) {
	text := out.Content.(provider.Text).Text
	s.n.mu.Lock()
	s.n.attempts[text]++
	s.n.senders[text] = append(s.n.senders[text], s.l.p)
	attempt := s.n.attempts[text]
	s.n.mu.Unlock()
	if !s.open() {
		return provider.Receipt{}, &provider.Temporary{Err: errDead}
	}
	w := s.n.w
	d := w.draw("send", text, attempt)
	pause(ctx, d.upTo(300))
	if !w.faulty() {
		d = nil
	}
	switch fault := d.upTo(100); {
	case fault < 8:
		return provider.Receipt{}, &provider.Temporary{Err: errors.New("busy")}
	case fault < 12:
		return provider.Receipt{}, &provider.RateLimited{After: time.Duration(1+d.upTo(5)) * time.Second}
	case fault < 16: // it does not arrive, and nobody knows
		pause(ctx, 1000*d.upTo(20))
		return provider.Receipt{}, &provider.Ambiguous{Err: errors.New("no answer")}
	case fault < 22: // it arrives late
		pause(ctx, 1000*d.upTo(20))
	}
	if s.l.p.dead() {
		return provider.Receipt{}, &provider.Ambiguous{Err: errDead}
	}
	id := out.ID
	if s.l.kind == "provider-once" {
		id = w.id()
	}
	s.n.show(out.To.ChatID, id, text)
	if fault := d.upTo(100); fault < 5 {
		return provider.Receipt{}, &provider.Ambiguous{Err: errors.New("the answer was lost")}
	}
	return provider.Receipt{MessageID: id}, nil
}

// pause waits for milliseconds of virtual time.
func pause(ctx context.Context, ms int64) {
	select {
	case <-time.After(time.Duration(ms) * time.Millisecond):
	case <-ctx.Done():
	}
}

// rest waits for some virtual time.
func rest(d time.Duration) { <-time.After(d) }

func (n *network) show(contact, id, text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.known[id] {
		return
	}
	n.known[id] = true
	for _, texts := range n.shown {
		if slices.Contains(texts, text) {
			n.twice = append(n.twice, text)
		}
	}
	n.shown[contact] = append(n.shown[contact], text)
}

// current returns the session that is open, or nil.
func (n *network) current() *session {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, s := range n.sessions {
		if s.open() {
			return s
		}
	}
	return nil
}

// deliver delivers events until a server has acknowledged them, and some of them again
// after that.
func (n *network) deliver(what string, events ...provider.Event) {
	d := n.w.draw("deliver", n.ref, what)
	begin := time.Now()
	for more := d.chance(15) && n.w.faulty(); ; {
		if time.Since(begin) > timeout {
			n.w.breach("%q is not taken for %s", what, timeout)
			return
		}
		s := n.current()
		if s != nil && s.inbox.Receive(context.WithValue(context.Background(), processKey{}, s.l.p), s.ref.ID, events) == nil && !s.l.p.dead() {
			if !more {
				return
			}
			more = false
		}
		rest(time.Duration(100+d.upTo(2000)) * time.Millisecond)
	}
}

// contact is a person who writes to a reference.
type contact struct{ phone, lid string }

func (c contact) byPhone() provider.Address {
	return provider.Address{ChatID: c.phone + "@s.whatsapp.net", Phone: c.phone}
}

func (c contact) byLID() provider.Address {
	return provider.Address{ChatID: c.lid + "@lid", LID: c.lid}
}

func (c contact) whole() provider.Address {
	a := c.byPhone()
	a.LID = c.lid
	return a
}

// message is the text of the n-th message of a contact under one of its ids: "p" for
// the phone number, "l" for the id that hides it, "w" when the network names both.
func message(c contact, as string, n int) string { return fmt.Sprintf("%s %s %02d", c.phone, as, n) }

func incoming(a provider.Address, id, text string) *provider.Message {
	return &provider.Message{ID: id, Chat: a, From: provider.Contact{Address: a, Name: "Ana"}, At: time.Now(), Content: provider.Text{Text: text}}
}
