package messaging_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/trunklinehq/trunkline/provider"
)

// Kinds of references that a [network] carries: ids chosen by the network, as most
// have them, and ids chosen by the sender.
const (
	testKind   provider.Kind = "provider-test"
	ownIDsKind provider.Kind = "provider-test-ids"
)

// network is a scripted network: it takes everything unless told otherwise.
type network struct {
	mu     sync.Mutex
	sent   []provider.Outbound // every attempt, in the order of inbound event
	reads  []string
	n      int
	inbox  provider.Inbox
	answer func(ctx context.Context, out provider.Outbound, attempt int) (provider.Receipt, error)
	check  func(ref provider.Reference) (provider.Account, error)
}

// netctx is short for what scripts take.
type netctx = context.Context

func newNetwork() *network { return &network{} }

func (n *network) provider() provider.Provider { return &testProvider{n, testKind} }
func (n *network) ownIDs() provider.Provider {
	return &ownIDsProvider{testProvider{n, ownIDsKind}}
}

// script sets what becomes of attempts; attempt counts those of one text.
func (n *network) script(fn func(ctx context.Context, out provider.Outbound, attempt int) (provider.Receipt, error)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.answer = fn
}

// fail answers the first attempts of each text with errs.
func (n *network) fail(errs ...error) {
	n.script(func(_ context.Context, out provider.Outbound, attempt int) (provider.Receipt, error) {
		if attempt <= len(errs) {
			return provider.Receipt{}, errs[attempt-1]
		}
		return n.taken(out), nil
	})
}

// failUntil is [network.fail], and holds what comes after errs until free is
// closed: who looks at a message that is tried again sees it before it is sent.
func (n *network) failUntil(free <-chan struct{}, errs ...error) {
	n.script(func(ctx context.Context, out provider.Outbound, attempt int) (provider.Receipt, error) {
		if attempt <= len(errs) {
			return provider.Receipt{}, errs[attempt-1]
		}
		if err := released(ctx, free); err != nil {
			return provider.Receipt{}, err
		}
		return n.taken(out), nil
	})
}

// released waits until free is closed.
func released(ctx context.Context, free <-chan struct{}) error {
	select {
	case <-free:
		return nil
	case <-ctx.Done():
		return &provider.Temporary{Err: ctx.Err()}
	}
}

// taken is the receipt of a message.
func (n *network) taken(out provider.Outbound) provider.Receipt {
	if strings.HasPrefix(out.ID, "own.") {
		return provider.Receipt{MessageID: out.ID}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.n++
	return provider.Receipt{MessageID: fmt.Sprintf("net.%d", n.n)}
}

// texts lists the attempts by their text.
func (n *network) texts() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var out []string
	for _, o := range n.sent {
		out = append(out, plainText(o.Content))
	}
	return out
}

func (n *network) attempts() []provider.Outbound {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]provider.Outbound{}, n.sent...)
}

func (n *network) readIDs() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]string{}, n.reads...)
}

func (n *network) take(out provider.Outbound) (attempt int, answer func(context.Context, provider.Outbound, int) (provider.Receipt, error)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.sent = append(n.sent, out)
	for _, o := range n.sent {
		if plainText(o.Content) == plainText(out.Content) {
			attempt++
		}
	}
	return attempt, n.answer
}

func plainText(c provider.Content) string {
	if t, ok := c.(provider.Text); ok {
		return t.Text
	}
	return c.Type()
}

type testProvider struct {
	net  *network
	kind provider.Kind
}

func (p *testProvider) Kind() provider.Kind { return p.kind }

func (p *testProvider) Capabilities() provider.Capabilities {
	return provider.Capabilities{Send: []string{"text", "template"}, Window: 24 * time.Hour, Templates: true, Receipts: true}
}

func (p *testProvider) Settings() []provider.Setting {
	return []provider.Setting{
		{Name: "host", Doc: "Where it is."},
		{Name: "token", Doc: "What opens it.", Secret: true},
		{Name: "pin", Doc: "What else opens it.", Secret: true},
	}
}

// Address takes phone numbers, user ids (u.…) and groups (…@g.us).
func (p *testProvider) Address(id string) (provider.Address, error) {
	id = strings.TrimPrefix(strings.ReplaceAll(id, " ", ""), "+")
	switch {
	case strings.HasPrefix(id, "u."):
		return provider.Address{ChatID: id, UserID: id}, nil
	case strings.HasSuffix(id, "@g.us"):
		return provider.Address{ChatID: id, Group: true}, nil
	case id != "" && strings.Trim(id, "0123456789") == "":
		return provider.Address{ChatID: id, Phone: id}, nil
	}
	return provider.Address{}, &provider.BadRecipient{Message: "must be a phone number"}
}

func (p *testProvider) Open(_ context.Context, ref provider.Reference, inbox provider.Inbox) (provider.Session, error) {
	p.net.mu.Lock()
	defer p.net.mu.Unlock()
	p.net.inbox = inbox
	return &testSession{p.net, ref}, nil
}

// ownIDsProvider chooses the ids of messages, and has no window.
type ownIDsProvider struct{ testProvider }

func (p *ownIDsProvider) Capabilities() provider.Capabilities {
	return provider.Capabilities{Send: []string{"text", "poll", "vote"}, Receipts: true}
}

func (p *ownIDsProvider) NewMessageID() string {
	p.net.mu.Lock()
	defer p.net.mu.Unlock()
	p.net.n++
	return fmt.Sprintf("own.%d", p.net.n)
}

type testSession struct {
	net *network
	ref provider.Reference
}

func (s *testSession) Send(ctx context.Context, out provider.Outbound) (provider.Receipt, error) {
	attempt, answer := s.net.take(out)
	if answer != nil {
		return answer(ctx, out, attempt)
	}
	return s.net.taken(out), nil
}

func (s *testSession) Check(context.Context) (provider.Account, error) {
	s.net.mu.Lock()
	check := s.net.check
	s.net.mu.Unlock()
	if check != nil {
		return check(s.ref)
	}
	return provider.Account{ID: "1", Name: "Test"}, nil
}

func (s *testSession) MarkRead(_ context.Context, _ provider.Address, id string) error {
	s.net.mu.Lock()
	defer s.net.mu.Unlock()
	s.net.reads = append(s.net.reads, id)
	return nil
}

func (s *testSession) Close(context.Context) error { return nil }
