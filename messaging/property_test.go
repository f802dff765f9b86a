package messaging_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
)

// TestOrderDoesNotMatter delivers what happened on a few references to two nodes, in
// any order and with repeats, and compares what is stored and told with what a model makes
// of the same in its true order. SEED repeats a run, ROUNDS is its length.
func TestOrderDoesNotMatter(t *testing.T) {
	t.Parallel()
	callbacks := 1000 * testkit.Rounds(10)
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		seed := uint64(time.Now().UnixNano())
		if n, err := strconv.ParseUint(os.Getenv("SEED"), 10, 64); err == nil {
			seed = n
		}
		t.Logf("SEED=%d", seed)
		r := rand.New(rand.NewPCG(seed, 0))
		f := setup(t, db, config{})
		other := setup(t, db, config{idle: true, net: f.net, clock: f.clock, options: func(o *messaging.Options) { o.Sinks = []messaging.Sink{f.sink} }})
		var worlds []*world
		for range 2 {
			w := newWorld(r, f.reference(t, testKind))
			f.sends(t, w)
			worlds = append(worlds, w)
		}
		deliver(t, r, callbacks, worlds, f, other)
		f.until(t, "what raced is settled", func() bool {
			return f.svc.ApplyEarlies(t.Context()) == nil && count(t, db, `SELECT count(*) FROM messaging_early_status`) == 0
		})
		published := f.published(t)
		for _, w := range worlds {
			model(w).check(t, f, published)
		}
	})
}

// sends sends messages to everybody, who must have written for that.
func (f *fixture) sends(t *testing.T, w *world) {
	for _, h := range w.people {
		if h.group {
			continue
		}
		open := *w.deeds[0].ev.(*provider.Message)
		open.ID, open.Chat, open.At = w.id("in"), h.address(true), epoch.Add(-time.Minute)
		open.From = provider.Contact{Address: open.Chat}
		w.deeds = append(w.deeds, deed{h, open.At, &open})
		f.receive(t, w.ref, &open)
		for range 3 {
			m := f.send(t, messaging.SendRequest{Reference: w.ref, ChatID: open.Chat.ChatID, Wait: timeout})
			require.Equal(t, "SENDING", m.Status)
			h.ids, h.own = append(h.ids, m.ID), append(h.own, m.ID)
			w.deeds = append(w.deeds, deed{h, epoch, &provider.Message{ID: m.ID, Mine: true, Chat: open.Chat, At: epoch}})
		}
	}
}

// deliver lets things happen until there are n callbacks, and delivers them to
// the nodes, which have one database.
func deliver(t *testing.T, r *rand.Rand, n int, worlds []*world, nodes ...*fixture) {
	type delivery struct {
		ref provider.ReferenceID
		ev  provider.Event
	}
	var all []delivery
	done := map[*world]int{}
	for len(all) < n {
		w := worlds[r.IntN(len(worlds))]
		w.step()
		for ; done[w] < len(w.deeds); done[w]++ {
			if m, ok := w.deeds[done[w]].ev.(*provider.Message); ok && m.Content == nil {
				continue // sent by us
			}
			for range 1 + r.IntN(2)*r.IntN(3) {
				all = append(all, delivery{w.ref, w.deeds[done[w]].ev})
			}
		}
	}
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	batches := make(chan []delivery)
	var workers sync.WaitGroup
	for i := range 4 {
		svc := nodes[i%len(nodes)].svc
		workers.Go(func() {
			for batch := range batches {
				evs := map[provider.ReferenceID][]provider.Event{}
				for _, d := range batch {
					evs[d.ref] = append(evs[d.ref], d.ev)
				}
				if t.Failed() {
					continue
				}
				for ref, evs := range evs {
					assert.NoError(t, svc.Receive(t.Context(), ref, evs))
				}
			}
		})
	}
	for len(all) > 0 {
		k := min(len(all), 1+r.IntN(40))
		batches <- all[:k]
		all = all[k:]
	}
	close(batches)
	workers.Wait()
}

// published are the events of each message and call of a reference, in their order.
func (f *fixture) published(t *testing.T) map[string][]messaging.Event {
	out := map[string][]messaging.Event{}
	for _, e := range f.sink.all(t) {
		id := e.MessageID
		if e.Type == messaging.EventCalls {
			id = member(t, e.Payload, "id")
		}
		key := fmt.Sprint(e.Reference, " ", id)
		out[key] = append(out[key], e)
	}
	return out
}

// truth is what a reference must come to.
type truth struct {
	w        *world
	messages map[string]*messageTruth
	chats    map[*human]*chatTruth
	calls    map[string]provider.CallStatus
}

type messageTruth struct {
	who    *human
	m      *provider.Message
	status provider.Status
	live   bool
}

type chatTruth struct {
	name, title     string
	optedOut        bool
	window, handoff time.Time
}

// model takes what happened in its true order.
func model(w *world) *truth {
	slices.SortStableFunc(w.deeds, func(a, b deed) int { return a.at.Compare(b.at) })
	x := &truth{w: w, messages: map[string]*messageTruth{}, chats: map[*human]*chatTruth{}, calls: map[string]provider.CallStatus{}}
	for _, h := range w.people {
		x.chats[h] = &chatTruth{}
	}
	for _, d := range w.deeds {
		c := x.chats[d.who]
		switch e := d.ev.(type) {
		case *provider.Message:
			x.message(c, d.who, e)
		case *provider.Call:
			x.calls[e.CallID] = e.Status
			if !e.Mine {
				c.lastInbound(e.At)
			}
		case *provider.GroupChange:
			c.title = e.Subject
		case *provider.ContactChange:
			switch e.What {
			case provider.ContactSaved, provider.ContactForgotten:
				c.title = e.Name
			case provider.ContactOptedOut, provider.ContactOptedIn:
				c.optedOut = e.What == provider.ContactOptedOut
			}
		}
	}
	for _, d := range w.deeds { // of which none is about a message that there is not
		if e, ok := d.ev.(*provider.StatusChange); ok {
			m := x.messages[e.MessageID]
			m.status = max(m.status, e.Status)
		}
	}
	x.names()
	return x
}

func (c *chatTruth) lastInbound(at time.Time) {
	if until := at.Add(24 * time.Hour); until.After(c.window) {
		c.window = until
	}
}

func (x *truth) message(c *chatTruth, who *human, e *provider.Message) {
	m := x.messages[e.ID]
	if m == nil {
		m = &messageTruth{who: who, m: e, status: provider.StatusDelivered}
		if e.Mine {
			m.status = provider.StatusSending
		}
		x.messages[e.ID] = m
	}
	if e.Historical {
		return
	}
	m.live = true
	switch {
	case !e.Mine:
		c.lastInbound(e.At)
	case e.Content != nil:
		c.handoff = e.At
	}
}

// names finds the newest name of everybody.
func (x *truth) names() {
	last := map[*human]time.Time{}
	for _, m := range x.messages {
		if !m.m.Mine && m.m.From.Name != "" && !m.who.group && m.m.At.After(last[m.who]) {
			last[m.who], x.chats[m.who].name = m.m.At, m.m.From.Name
		}
	}
}

func (x *truth) check(t *testing.T, f *fixture, published map[string][]messaging.Event) {
	for h, c := range x.chats {
		x.checkChat(t, f, h, c)
	}
	for id, m := range x.messages {
		checkPublished(t, m, published[fmt.Sprint(x.w.ref, " ", id)])
	}
	for id, last := range x.calls {
		evs := published[fmt.Sprint(x.w.ref, ` "`, id, `"`)]
		step, status := 0, ""
		for _, e := range evs {
			status = member(t, e.Payload, "status")
			now := map[string]int{`"ringing"`: 1, `"accepted"`: 2}[status]
			now = cmp.Or(now, 3)
			require.Greater(t, now, step, "a call went back")
			step = now
		}
		require.Equal(t, strconv.Quote(string(last)), status, "call %s", id)
	}
}

// checkPublished: a live message is told once, then its statuses rise to the last;
// of imported history nobody hears.
func checkPublished(t *testing.T, m *messageTruth, evs []messaging.Event) {
	if !m.live {
		require.Empty(t, evs, m.m.ID)
		return
	}
	require.NotEmpty(t, evs, m.m.ID)
	at := provider.Status(-1)
	for i, e := range evs {
		require.Equal(t, i == 0, e.Type == messaging.EventMessage, m.m.ID)
		var p struct{ Status string }
		require.NoError(t, json.Unmarshal(e.Payload, &p))
		now := statuses[slices.IndexFunc(statuses, func(s provider.Status) bool { return s.String() == p.Status })]
		require.Greater(t, now, at, "a status went back: %s", m.m.ID)
		at = now
	}
	require.Equal(t, m.status, at, m.m.ID)
}

func (x *truth) checkChat(t *testing.T, f *fixture, h *human, want *chatTruth) {
	id := h.phones[len(h.phones)-1]
	got := f.chat(t, x.w.ref, id)
	for _, name := range slices.Concat(h.phones, h.users) {
		require.Equal(t, id, f.chat(t, x.w.ref, name).ID, "%s leads to %s", name, id)
	}
	require.Equal(t, cmp.Or(want.title, want.name), got.Name, id)
	require.Equal(t, want.optedOut, got.OptedOut, id)
	require.Equal(t, !want.handoff.IsZero(), got.Handoff != nil, id)
	if got.Handoff != nil {
		require.Equal(t, want.handoff, got.Handoff.Since.Time, id)
	}
	require.Equal(t, want.window.IsZero(), got.WindowExpiresAt == nil, id)
	if got.WindowExpiresAt != nil {
		require.Equal(t, want.window, got.WindowExpiresAt.Time, id)
	}
	unread, mine := int64(0), 0
	for _, m := range x.messages {
		if m.who != h {
			continue
		}
		mine++
		if m.live && !m.m.Mine && m.status < provider.StatusRead {
			unread++
		}
	}
	require.Equal(t, unread, got.Unread, id)
	require.Equal(t, mine, x.checkMessages(t, f, h, got))
}

// checkMessages compares what is listed of a chat, and counts it.
func (x *truth) checkMessages(t *testing.T, f *fixture, h *human, c messaging.Chat) (n int) {
	past, older := false, time.Time{}
	for page := (messaging.History{Limit: 200}); ; {
		list, err := f.acc.Messages(t.Context(), x.w.ref, c.ID, page)
		require.NoError(t, err)
		for i, got := range list.Items {
			want := x.messages[got.ID]
			require.NotNil(t, want, got.ID)
			if n == 0 && i == 0 {
				require.Equal(t, got.ID, c.LastMessage.ID)
			}
			require.Same(t, want.who, h, got.ID)
			require.Equal(t, want.status.String(), got.Status, got.ID)
			require.Equal(t, want.status == provider.StatusFail, got.Error != nil, got.ID)
			require.Equal(t, want.m.Mine, got.Mine)
			if past = past || !want.live; past {
				require.False(t, want.live, "history is older than all else")
				require.True(t, older.IsZero() || !want.m.At.After(older), "history is by when it was written")
				older = want.m.At
			}
		}
		n += len(list.Items)
		if list.Next == "" {
			return n
		}
		page.Before = list.Next
	}
}
