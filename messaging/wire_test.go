package messaging_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/internal/testsignal"
	"github.com/trunklinehq/trunkline/provider"
)

const kindWire provider.Kind = "test-wire"

// wire is a network to which references are connected, after a phone has linked
// them. It notes when a reference is connected by one node while another may still
// act for it.
type wire struct {
	mu        sync.Mutex
	linked    map[provider.ReferenceID]bool
	sessions  map[provider.ReferenceID]*wireSession
	sent      map[string]int // by message id
	conflicts int
	opened    int
	closed    int
	down      bool           // nothing connects
	refusal   error          // of calls that are no sends
	calls     map[string]int // likewise, by name
	changed   testsignal.Signal
}

func newWire() *wire {
	return &wire{linked: map[provider.ReferenceID]bool{}, sessions: map[provider.ReferenceID]*wireSession{}, sent: map[string]int{}, calls: map[string]int{}}
}

// provider is a node's way to the network.
func (w *wire) provider() provider.Provider { return wireProvider{w} }

// scan links a reference with a phone.
func (w *wire) scan(ctx context.Context, ref provider.ReferenceID) error {
	w.mu.Lock()
	w.linked[ref] = true
	s := w.sessions[ref]
	w.mu.Unlock()
	return s.report(ctx, &provider.Connection{State: provider.Connected, Account: &provider.Account{ID: "49151", Name: "Shop"}})
}

// remove takes a reference off its phone.
func (w *wire) remove(ctx context.Context, ref provider.ReferenceID) error {
	w.mu.Lock()
	s := w.sessions[ref]
	w.mu.Unlock()
	return s.report(ctx, &provider.Connection{State: provider.LoggedOut, Reason: provider.RemovedOnPhone, Detail: "It was removed."})
}

// until waits until done returns true, which it asks now and after each change of what
// is connected or linked, and each commit on a handle.
func (w *wire) until(t testing.TB, db *sqlx.DB, what string, done func() bool) {
	t.Helper()
	testkit.Until(t, []*testsignal.Signal{&w.changed, testkit.CommitsOf(t, db)}, done, what)
}

func (w *wire) session(ref provider.ReferenceID) *wireSession {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sessions[ref]
}

func (w *wire) counts() (connected, conflicts, opened, linked int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.sessions), w.conflicts, w.opened, len(w.linked)
}

// closes counts the sessions that were closed.
func (w *wire) closes() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.closed
}

type wireProvider struct{ w *wire }

func (wireProvider) Kind() provider.Kind { return kindWire }

func (wireProvider) Settings() []provider.Setting {
	return []provider.Setting{{Name: "calls.reject", Boolean: true}, {Name: "calls.reply"}}
}

func (wireProvider) Capabilities() provider.Capabilities {
	return provider.Capabilities{Send: []string{"text"}, Calls: true}
}
func (wireProvider) NewMessageID() string { return "wire-" + uuid.NewString() }

func (wireProvider) Address(chatID string) (provider.Address, error) {
	if strings.HasSuffix(chatID, "@g.us") {
		return provider.Address{ChatID: chatID, Group: true}, nil
	}
	return provider.Address{ChatID: chatID, Phone: chatID}, nil
}

func (p wireProvider) Open(ctx context.Context, ref provider.Reference, in provider.Inbox) (provider.Session, error) {
	s := &wireSession{w: p.w, ref: ref, in: in}
	p.w.mu.Lock()
	if p.w.down {
		p.w.mu.Unlock()
		return nil, errors.New("the network is down")
	}
	if old := p.w.sessions[ref.ID]; old != nil && old.ref.Leased() {
		p.w.conflicts++
	}
	p.w.sessions[ref.ID] = s
	p.w.opened++
	p.w.changed.Send()
	linked := p.w.linked[ref.ID]
	p.w.mu.Unlock()
	if !linked {
		return s, nil
	}
	return s, s.report(ctx, &provider.Connection{State: provider.Connected})
}

func (p wireProvider) Forget(_ context.Context, ref provider.ReferenceID) error {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	delete(p.w.linked, ref)
	p.w.changed.Send()
	return nil
}

type wireSession struct {
	w   *wire
	ref provider.Reference
	in  provider.Inbox
}

func (s *wireSession) report(ctx context.Context, c *provider.Connection) error {
	return s.in.Receive(ctx, s.ref.ID, []provider.Event{c})
}

func (s *wireSession) Link(ctx context.Context, phone string) error {
	s.w.mu.Lock()
	linked := s.w.linked[s.ref.ID]
	s.w.mu.Unlock()
	c := &provider.Connection{State: provider.Pairing, Expires: epoch.Add(time.Minute)}
	switch {
	case linked:
		return nil
	case phone != "":
		c.Code = "ABCD1234"
	default:
		c.QR = fmt.Sprintf("https://example.org/link#%d", s.ref.ID)
	}
	return s.report(ctx, c)
}

func (s *wireSession) Unlink(context.Context) error {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	if !s.w.linked[s.ref.ID] {
		return errors.New("not linked")
	}
	return nil
}

func (s *wireSession) Send(_ context.Context, out provider.Outbound) (provider.Receipt, error) {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	if s.w.sessions[s.ref.ID] != s || !s.ref.Leased() {
		return provider.Receipt{}, &provider.Temporary{Err: errors.New("not connected")}
	}
	s.w.sent[out.ID]++
	return provider.Receipt{MessageID: out.ID}, nil
}

func (s *wireSession) Close(context.Context) error {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	s.w.closed++
	defer s.w.changed.Send()
	if s.w.sessions[s.ref.ID] == s {
		delete(s.w.sessions, s.ref.ID)
	}
	return nil
}
