package ingest

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/text"
	"github.com/trunklinehq/trunkline/messaging/internal/render"
	"github.com/trunklinehq/trunkline/messaging/internal/session"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// storeMessages inserts the messages that arrived, and takes the statuses that
// waited for them.
func storeMessages(ctx context.Context, u *store.Batch, b *inboundBatch) error {
	var add []*store.Message
	for i, a := range b.as {
		if m, ok := a.Event.(*provider.Message); ok {
			b.rows[i] = inboundRow(u, a, m)
			add = append(add, b.rows[i])
		}
	}
	if err := u.Add(ctx, add); err != nil {
		return err
	}
	var keys []store.MessageKey
	for i, m := range b.rows {
		if m != nil && m.Seq != 0 {
			b.isNew[i] = true
			keys = append(keys, store.MessageKey{Reference: m.Reference, ID: m.ID})
		}
	}
	var err error
	b.earlies, err = takeEarlyStatuses(ctx, u, keys)
	return err
}

// loadKnown reads the messages that statuses are about, and those that came
// again.
func loadKnown(ctx context.Context, u *store.Batch, b *inboundBatch) error {
	var keys []store.MessageKey
	for i, m := range b.rows {
		if m != nil && !b.isNew[i] {
			keys = append(keys, store.MessageKey{Reference: m.Reference, ID: m.ID})
		}
	}
	at, err := u.Locate(ctx, keys)
	if err != nil {
		return err
	}
	found := b.found.seqs()
	again, seqs := map[store.MessageKey]int64{}, slices.Clone(found)
	for _, l := range at {
		again[l.MessageKey] = l.Seq
		if u.Added[l.MessageKey] == nil { // else there would be two of it, and one would miss a merge of chats
			seqs = append(seqs, l.Seq)
		}
	}
	if err := u.Load(ctx, seqs); err != nil {
		return err
	}
	for _, seq := range found {
		if m := u.Messages[seq]; m != nil && u.Chats[m.Chat] == nil {
			return store.ErrMoved // after its chat was locked
		}
	}
	for i, m := range b.rows {
		if m != nil && !b.isNew[i] {
			key := store.MessageKey{Reference: m.Reference, ID: m.ID}
			if b.rows[i] = u.Added[key]; b.rows[i] == nil {
				b.rows[i] = u.Messages[again[key]]
			}
		}
	}
	return nil
}

// inboundRow is an arrived message as its table will have it.
func inboundRow(u *store.Batch, a Event, e *provider.Message) *store.Message {
	c := u.ChatOf(store.Person{Reference: a.Reference, Address: e.Chat})
	at := e.At
	if at.IsZero() {
		at = u.Now
	}
	m := &store.Message{
		Reference: a.Reference.ID, Chat: c.ID, ID: e.ID, Mine: e.Mine, Actor: payload.ActorContact, Status: max(e.Status, provider.StatusDelivered),
		PushName: cmp.Or(c.Name, c.Title), BizName: c.BizName, AtUS: database.Micros(at), CreatedUS: database.Micros(u.Now),
		Announced: true, Tried: true, Body: c.Understand(e, a.body),
	}
	switch {
	case e.Mine:
		m.Actor, m.Status = payload.ActorPhone, max(e.Status, provider.StatusSending)
		if e.App != "" {
			m.Actor = payload.ActorAPI
		}
	case c.IsGroup:
	default:
		m.PushName, m.BizName = cmp.Or(e.From.Name, m.PushName), cmp.Or(e.From.VerifiedBizName, m.BizName)
	}
	if e.Historical {
		m.PastUS = store.PastUS(m.AtUS)
	}
	setMissingFile(m, e)
	return m
}

// setMissingFile notes why a message has no file, or why an old one failed.
func setMissingFile(m *store.Message, e *provider.Message) {
	_, file := e.Content.(provider.Media)
	failed := m.Status == provider.StatusFail
	if !failed && (!file || e.Error == nil) {
		return
	}
	why := payload.Failure{Code: store.CodeMediaUnavailable, Message: session.NoReason}
	if failed {
		why.Code = "failed"
	}
	if e.Error != nil {
		said := store.FailureOf(*e.Error)
		why = payload.Failure{Code: cmp.Or(text.Truncate(said.Code, render.MaxTextLength), why.Code), Message: cmp.Or(said.Message, why.Message), Advice: said.Advice}
	}
	m.SetFailure(why)
}

// messageReceived updates the chat of a new message and announces it. From an imported
// one nothing follows.
func messageReceived(ctx context.Context, u *store.Batch, l store.ReferenceInfo, e *provider.Message, m *store.Message) error {
	c := u.Chats[m.Chat]
	if !e.Mine && !c.IsGroup {
		c.SetName(e.From, m.AtUS)
	}
	if err := setLastMessage(ctx, u, c, m); err != nil {
		return err
	}
	c.ActivityUS = max(c.ActivityUS, m.AtUS)
	u.ActiveChats.Add(c)
	expect(u, l, e, m)
	if e.Historical {
		return nil
	}
	u.Questions.Answer(c, e)
	if e.Standby || e.Mine && e.App == "" {
		answeredByHand(u, c, m.AtUS) // another app answers, or a person on the account's own phone
	}
	if !e.Mine {
		noteInbound(c, l, m.AtUS, database.Micros(e.WindowUntil))
		if m.Status < provider.StatusRead {
			c.Unread++
		}
		if l.Names && c.Name == "" && !c.IsGroup {
			u.Unnamed = append(u.Unnamed, store.Person{Reference: l, Address: e.Chat})
		}
	}
	u.Emit(l.Account, payload.EventMessage, c, m)
	if own, has := u.Own[c.ID]; has && m.Mine {
		u.Own[c.ID] = append(own, m)
	}
	applyWatermarks(u, l, m)
	return nil
}

// setLastMessage makes m its chat's last message unless there is a later one. New
// messages of the present have the highest seq.
func setLastMessage(ctx context.Context, u *store.Batch, c *store.Chat, m *store.Message) error {
	if m.PastUS == 0 && m.Seq > c.LastMessage {
		c.LastMessage = m.Seq
		return nil
	}
	was, err := lastMessageOf(ctx, u, c)
	if err == nil && (was == nil || before(was, m)) {
		c.LastMessage = m.Seq
	}
	return err
}

// lastMessageOf is a chat's last message, nil when it has none any more.
func lastMessageOf(ctx context.Context, u *store.Batch, c *store.Chat) (*store.Message, error) {
	if c.LastMessage != 0 && u.Messages[c.LastMessage] == nil {
		if err := u.Load(ctx, []int64{c.LastMessage}); err != nil {
			return nil, err
		}
	}
	return u.Messages[c.LastMessage], nil
}

// noteInbound notes that the contact wrote or called: free-form messages may follow
// for as long as the kind of reference, or the network itself, says.
func noteInbound(c *store.Chat, l store.ReferenceInfo, atUS, untilUS int64) {
	if untilUS == 0 && l.Window > 0 {
		untilUS = atUS + l.Window.Microseconds()
	}
	c.WindowUS = max(c.WindowUS, untilUS)
}

// receivedAgain takes from a message that came again what it adds to imported history:
// the file that was missing there, or that it is no history.
func receivedAgain(ctx context.Context, u *store.Batch, b *inboundBatch, a Event, e *provider.Message, m *store.Message) error {
	if m == nil || u.Chats[m.Chat] == nil {
		return nil
	}
	var was payload.Body
	_ = json.Unmarshal([]byte(m.Body), &was) // written by this package
	if now, hidden := e.Content.(provider.Unknown); was.Undecryptable() && (!hidden || now.Kind != provider.Undecryptable) {
		return readable(u, b, a, e, m)
	}
	if m.PastUS == 0 {
		return nil
	}
	if media, ok := e.Content.(provider.Media); ok && was.Placeholder() && media.Kind != provider.Placeholder {
		m.Body = a.body
		setMissingFile(m, e)
		u.DirtyMessages.Add(m)
		u.Rewritten.Add(m)
		expect(u, a.Reference, e, m)
	}
	if e.Historical {
		return nil
	}
	m.PastUS = 0
	u.DirtyMessages.Add(m)
	u.Rewritten.Add(m)
	return messageReceived(ctx, u, a.Reference, e, m)
}

// readable gives a message that could not be read its content, and announces
// it once more.
func readable(u *store.Batch, b *inboundBatch, a Event, e *provider.Message, m *store.Message) error {
	c := u.Chats[m.Chat]
	m.Body = c.Understand(e, a.body)
	setMissingFile(m, e)
	u.DirtyMessages.Add(m)
	u.Rewritten.Add(m)
	expect(u, a.Reference, e, m)
	countVote(u, b, a, m)
	if !e.Historical {
		u.Questions.Answer(c, e)
		u.Emit(a.Reference.Account, payload.EventMessage, c, m)
	}
	return nil
}

// before says whether m is listed before o.
func before(m *store.Message, o *store.Message) bool {
	if m.PastUS != o.PastUS {
		return m.PastUS < o.PastUS
	}
	return m.Seq < o.Seq
}
