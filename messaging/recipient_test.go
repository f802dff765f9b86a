package messaging_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/cloud"
	"github.com/trunklinehq/trunkline/provider/messenger"
	"github.com/trunklinehq/trunkline/provider/sandbox"
	"github.com/trunklinehq/trunkline/provider/web"
)

// addressed is a network that takes everything. Its chat ids are those of a
// real kind.
type addressed struct {
	kind    provider.Kind
	address func(chatID string) (provider.Address, error)
	left    chan<- departed
}

// departed is a message that was handed to a network.
type departed struct {
	ref provider.ReferenceID
	out provider.Outbound
}

func (p *addressed) Kind() provider.Kind { return p.kind }

func (p *addressed) Capabilities() provider.Capabilities {
	return provider.Capabilities{Send: []string{"text"}, Groups: true}
}

func (p *addressed) Settings() []provider.Setting { return nil }

func (p *addressed) Address(chatID string) (provider.Address, error) { return p.address(chatID) }

func (p *addressed) Open(_ context.Context, ref provider.Reference, _ provider.Inbox) (provider.Session, error) {
	return addressedSession{p, ref.ID}, nil
}

type addressedSession struct {
	*addressed
	ref provider.ReferenceID
}

func (s addressedSession) Send(ctx context.Context, out provider.Outbound) (provider.Receipt, error) {
	select {
	case s.left <- departed{s.ref, out}:
		return provider.Receipt{MessageID: "net." + out.ID}, nil
	case <-ctx.Done():
		return provider.Receipt{}, &provider.Temporary{Err: ctx.Err()}
	}
}

func (addressedSession) Close(context.Context) error { return nil }

// realKinds are networks with the chat ids of every kind of reference.
func realKinds(left chan<- departed) []provider.Provider {
	return []provider.Provider{
		&addressed{web.Kind, (*web.Provider)(nil).Address, left}, &addressed{cloud.Kind, (*cloud.Provider)(nil).Address, left},
		&addressed{messenger.Kind, (*messenger.Provider)(nil).Address, left}, &addressed{sandbox.Kind, sandbox.New().Address, left},
	}
}

// collector keeps events as they are made.
type collector struct {
	mu     sync.Mutex
	events []messaging.Event
}

func (k *collector) EventsTx(_ context.Context, _ messaging.Tx, evs []messaging.Event) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.events = append(k.events, evs...)
	return nil
}

// messages takes the events of messages of contacts that were made since.
func (k *collector) messages() (out []messaging.Event) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, e := range k.events {
		if e.Type == messaging.EventMessage && e.Actor == messaging.ActorContact {
			out = append(out, e)
		}
	}
	k.events = nil
	return out
}

// writer is somebody on one reference, with every id that the network may
// tell.
type writer struct {
	kind provider.Kind
	ref  provider.ReferenceID
	all  provider.Address // all ids; ChatID is not set
	name string           // of the sandbox
}

// ids are those of the contact that an address may have.
func (c *writer) ids() []string {
	return []string{c.all.Phone, c.all.LID, c.all.UserID, c.all.PSID, c.name}
}

// called is the contact as its network calls it when it tells some of the ids.
func (c *writer) called(phone, other bool) provider.Address {
	a := provider.Address{PSID: c.all.PSID}
	if phone || !other {
		a.Phone = c.all.Phone
	}
	if other {
		a.LID, a.UserID = c.all.LID, c.all.UserID
	}
	switch {
	case c.name != "":
		a.ChatID = c.name + "@sandbox"
	case a.PSID != "":
		a.ChatID = a.PSID + "@messenger"
	case c.kind == cloud.Kind && a.Phone != "":
		a.ChatID = a.Phone
	case c.kind == cloud.Kind:
		a.ChatID = a.UserID
	case a.Phone != "":
		a.ChatID = a.Phone + "@s.whatsapp.net"
	default:
		a.ChatID = a.LID + "@lid"
	}
	return a
}

// newContacts are people on a reference. Some of the hidden ids have the digits
// of somebody else's phone number.
func newContacts(r *rand.Rand, kind provider.Kind, ref provider.ReferenceID, n int) []*writer {
	out := make([]*writer, n)
	for i := range out {
		c := &writer{kind: kind, ref: ref}
		digits := fmt.Sprintf("49%d%03d%04d", ref, i, r.IntN(10_000))
		switch kind {
		case web.Kind:
			c.all.Phone, c.all.LID = digits, "9"+digits
			if i%4 == 3 {
				c.all.LID = out[i-1].all.Phone
			}
		case cloud.Kind:
			c.all.Phone, c.all.UserID = digits, "US."+digits
		case messenger.Kind:
			c.all.PSID = digits
		default:
			c.name = "c" + digits
		}
		out[i] = c
	}
	return out
}

// report is something that the network tells of the contact: a message of it,
// or only who it is.
func (c *writer) report(r *rand.Rand, n int) provider.Event {
	phone, other := r.IntN(2) == 0, r.IntN(3) > 0
	addr := c.called(phone, other)
	id := fmt.Sprintf("in.%d.%d", c.ref, n)
	switch chance := r.IntN(10); {
	case chance == 0:
		return &provider.ContactChange{
			Raw: provider.Raw{ID: id, Kind: "book"}, What: provider.ContactSaved, Chat: addr, At: epoch, Name: "Saved",
		}
	case chance == 1 && c.kind != messenger.Kind:
		return text(id, "", "to all", func(m *provider.Message) {
			m.Chat, m.From = provider.Address{ChatID: "120363@g.us", Group: true}, provider.Contact{Address: addr}
		})
	}
	return text(id, "", "hello", func(m *provider.Message) { m.Chat, m.From = addr, provider.Contact{Address: addr} })
}

// replyText is one try to write to whoever wrote.
type replyText struct {
	to   string
	by   *writer
	form string // chatId, remoteJid, alias or stripped
}

// answers are the ways to answer an event.
func answers(by *writer, chatID, remoteJID string) []replyText {
	out := []replyText{{chatID, by, "chatId"}, {remoteJID, by, "remoteJid"}}
	for _, id := range []string{chatID, remoteJID} {
		bare, _, _ := strings.Cut(strings.ReplaceAll(id, "::", "@"), "@")
		out = append(out, replyText{bare, by, "stripped"}, replyText{"+" + bare, by, "stripped"}, replyText{bare + "::single", by, "stripped"})
	}
	for _, a := range []provider.Address{by.called(true, false), by.called(false, true), by.called(true, true)} {
		out = append(out, replyText{a.ChatID, by, "alias"})
	}
	return out
}

// refusedID says whether an id was refused as one that cannot be used, or that
// may name two.
func refusedID(err error) bool {
	var bad *messaging.Invalid
	var refused *messaging.Error
	return errors.As(err, &bad) && bad.Field == "chatId" ||
		errors.As(err, &refused) && refused.Code == messaging.CodeAmbiguousChat && refused.Field == "chatId"
}

// TestAnswersReachTheWriter answers what contacts of every kind of reference
// wrote: by every id that an event shows, by all others that are known of the
// contact, and by what is left of an id when its suffix is cut off. Numbers are
// hidden, half known and learned late, in any order; chats become one
// meanwhile. No answer reaches anybody but the writer. 10,000 answers are
// ROUNDS=100.
func TestAnswersReachTheWriter(t *testing.T) {
	t.Parallel()
	cases := 100 * testkit.Rounds(2)
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		x := &exchange{r: rand.New(rand.NewPCG(seed, 1)), left: make(chan departed, 1<<12), published: &collector{}, refused: map[string]int{}}
		x.fixture = setup(t, db, config{options: func(o *messaging.Options) {
			o.Providers, o.Sinks = realKinds(x.left), []messaging.Sink{x.published}
		}})
		forms := map[string]int{}
		for len(x.taken) < cases {
			for _, kind := range []provider.Kind{web.Kind, web.Kind, web.Kind, cloud.Kind, messenger.Kind, sandbox.Kind} {
				x.play(t, kind)
			}
		}
		for _, a := range x.taken {
			forms[a.form]++
		}
		t.Logf("%d answers reached their writers: %v; refused: %v", len(x.taken), forms, x.refused)
		require.Len(t, forms, 4, "answers of every form were taken")
		require.Positive(t, x.refused["stripped"])
	})
}

// exchange is a service whose events are answered.
type exchange struct {
	*fixture
	r         *rand.Rand
	left      chan departed
	published *collector
	taken     []replyText
	refused   map[string]int // answers, by their form
}

// play lets contacts of a new reference write, and answers them.
func (x *exchange) play(t *testing.T, kind provider.Kind) {
	t.Helper()
	ref := x.reference(t, kind)
	people := newContacts(x.r, kind, ref, 8)
	writers := map[string]*writer{}
	first := len(x.taken)
	for n := range 2 * len(people) {
		c := people[x.r.IntN(len(people))]
		ev := c.report(x.r, n)
		if m, ok := ev.(*provider.Message); ok {
			writers[m.ID] = c
		}
		x.receive(t, ref, ev)
		for _, e := range x.published.messages() {
			x.answer(t, e, writers[e.MessageID], people)
		}
	}
	for range len(x.taken) - first {
		var d departed
		select {
		case d = <-x.left:
		case <-t.Context().Done():
			require.Fail(t, "an answer never left")
		}
		var n int
		_, err := fmt.Sscanf(plainText(d.out.Content), "answer %d", &n)
		require.NoError(t, err)
		require.Equal(t, ref, d.ref)
		requireReaches(t, x.taken[n], d.out.To, people)
	}
}

// answer answers an event in every way that there is.
func (x *exchange) answer(t *testing.T, e messaging.Event, by *writer, people []*writer) {
	t.Helper()
	var shown messaging.MessagePayload
	require.NoError(t, json.Unmarshal(e.Payload, &shown))
	chatID, remoteJID := shown.ChatID, shown.RemoteJID
	if strings.HasSuffix(remoteJID, "::group") {
		x.requireGroup(t, e, chatID, remoteJID)
		chatID, remoteJID = shown.Participant.ChatID, shown.Participant.RemoteJID
	}
	for _, a := range answers(by, chatID, remoteJID) {
		_, err := x.acc.Send(t.Context(), messaging.SendRequest{
			Reference: e.Reference, ChatID: a.to, Content: provider.Text{Text: fmt.Sprintf("answer %d", len(x.taken))},
		})
		if err == nil {
			x.taken = append(x.taken, a)
			continue
		}
		require.True(t, refusedID(err), "%s %s: %v", a.form, a.to, err)
		digits, _, _ := strings.Cut(a.to, "::")
		require.True(t, a.form == "stripped" || a.form == "remoteJid" && shared(people, digits), "%s %s: %v", a.form, a.to, err)
		x.refused[a.form]++
	}
}

// requireGroup checks that both ids of a group lead to it.
func (x *exchange) requireGroup(t *testing.T, e messaging.Event, chatID, remoteJID string) {
	t.Helper()
	for _, id := range []string{chatID, remoteJID} {
		who, err := x.acc.Contacts().Resolve(t.Context(), e.Reference, id)
		require.NoError(t, err, id)
		require.Equal(t, e.ChatID, who.ChatID)
	}
}

// requireReaches checks that an answer goes to the writer's own phone.
func requireReaches(t *testing.T, a replyText, to provider.Address, people []*writer) {
	t.Helper()
	whose := a.by
	if digits := strings.TrimPrefix(a.to, "+"); a.form == "stripped" {
		for _, p := range people {
			if p.all.Phone == digits && p != a.by {
				whose = p // who has this very phone number was named
			}
		}
	}
	n := 0
	for _, id := range []string{to.Phone, to.LID, to.UserID, to.PSID} {
		if id != "" {
			require.Contains(t, whose.ids(), id, "%s %s went to %+v", a.form, a.to, to)
			n++
		}
	}
	if whose.name != "" {
		require.Equal(t, whose.name+"@sandbox", to.ChatID)
		n++
	}
	require.Positive(t, n, "%s %s went to %+v", a.form, a.to, to)
}

// shared says whether digits are ids of two kinds, of two contacts.
func shared(people []*writer, digits string) bool {
	n := 0
	for _, p := range people {
		if slices.Contains(p.ids(), digits) {
			n++
		}
	}
	return n > 1
}
