package messaging

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/provider"
)

// storeMessages inserts the messages that arrived, and takes the statuses that
// waited for them.
func (u *batch) storeMessages(ctx context.Context, b *inboundBatch) error {
	var add []*messageRow
	for i, a := range b.as {
		if m, ok := a.event.(*provider.Message); ok {
			b.rows[i] = u.inboundRow(a, m)
			add = append(add, b.rows[i])
		}
	}
	if err := u.add(ctx, add); err != nil {
		return err
	}
	var keys []messageKey
	for i, m := range b.rows {
		if m != nil && m.Seq != 0 {
			b.isNew[i] = true
			keys = append(keys, messageKey{m.Reference, m.ID})
		}
	}
	var err error
	b.earlies, err = u.takeEarlyStatuses(ctx, keys)
	return err
}

// loadKnown reads the messages that statuses are about, and those that came
// again.
func (u *batch) loadKnown(ctx context.Context, b *inboundBatch) error {
	var keys []messageKey
	for i, m := range b.rows {
		if m != nil && !b.isNew[i] {
			keys = append(keys, messageKey{m.Reference, m.ID})
		}
	}
	at, err := u.locate(ctx, keys)
	if err != nil {
		return err
	}
	found := b.found.seqs()
	again, seqs := map[messageKey]int64{}, slices.Clone(found)
	for _, l := range at {
		again[l.messageKey] = l.Seq
		if u.added[l.messageKey] == nil { // else there would be two of it, and one would miss a merge of chats
			seqs = append(seqs, l.Seq)
		}
	}
	if err := u.load(ctx, seqs); err != nil {
		return err
	}
	for _, seq := range found {
		if m := u.messages[seq]; m != nil && u.chats[m.Chat] == nil {
			return errMoved // after its chat was locked
		}
	}
	for i, m := range b.rows {
		if m != nil && !b.isNew[i] {
			key := messageKey{m.Reference, m.ID}
			if b.rows[i] = u.added[key]; b.rows[i] == nil {
				b.rows[i] = u.messages[again[key]]
			}
		}
	}
	return nil
}

// inboundRow is an arrived message as its table will have it.
func (u *batch) inboundRow(a inboundEvent, e *provider.Message) *messageRow {
	c := u.chatOf(person{a.reference, e.Chat})
	at := e.At
	if at.IsZero() {
		at = u.now
	}
	m := &messageRow{
		Reference: a.reference.ID, Chat: c.ID, ID: e.ID, Mine: e.Mine, Actor: ActorContact, Status: max(e.Status, provider.StatusDelivered),
		PushName: cmp.Or(c.Name, c.Title), BizName: c.BizName, AtUS: database.Micros(at), CreatedUS: database.Micros(u.now),
		Announced: true, Tried: true, Body: c.understand(e, a.body),
	}
	switch {
	case e.Mine:
		m.Actor, m.Status = ActorPhone, max(e.Status, provider.StatusSending)
		if e.App != "" {
			m.Actor = ActorAPI
		}
	case c.IsGroup:
	default:
		m.PushName, m.BizName = cmp.Or(e.From.Name, m.PushName), cmp.Or(e.From.VerifiedBizName, m.BizName)
	}
	if e.Historical {
		m.PastUS = pastUS(m.AtUS)
	}
	m.setMissingFile(e)
	return m
}

// setMissingFile notes why a message has no file, or why an old one failed.
func (m *messageRow) setMissingFile(e *provider.Message) {
	_, file := e.Content.(provider.Media)
	failed := m.Status == provider.StatusFail
	if !failed && (!file || e.Error == nil) {
		return
	}
	why := Failure{Code: mediaUnavailable, Message: noReasonText}
	if failed {
		why.Code = "failed"
	}
	if e.Error != nil {
		said := failureOf(*e.Error)
		why = Failure{Code: cmp.Or(truncate(said.Code, maxTextLength), why.Code), Message: cmp.Or(said.Message, why.Message), Advice: said.Advice}
	}
	m.fails(why)
}

// messageReceived updates the chat of a new message and announces it. From an imported
// one nothing follows.
func (u *batch) messageReceived(ctx context.Context, l referenceInfo, e *provider.Message, m *messageRow) error {
	c := u.chats[m.Chat]
	if !e.Mine && !c.IsGroup {
		c.setName(e.From, m.AtUS)
	}
	if err := u.setLastMessage(ctx, c, m); err != nil {
		return err
	}
	c.ActivityUS = max(c.ActivityUS, m.AtUS)
	u.activeChats.add(c)
	u.expect(l, e, m)
	if e.Historical {
		return nil
	}
	u.answered(c, e)
	if e.Standby || e.Mine && e.App == "" {
		u.answeredByHand(c, m.AtUS) // somebody else answers, or a person on the account's own phone
	}
	if !e.Mine {
		c.noteInbound(l, m.AtUS, database.Micros(e.WindowUntil))
		if m.Status < provider.StatusRead {
			c.Unread++
		}
		if l.Names && c.Name == "" && !c.IsGroup {
			u.nameless = append(u.nameless, person{l, e.Chat})
		}
	}
	u.emit(l.Account, EventMessage, c, m)
	if own, has := u.own[c.ID]; has && m.Mine {
		u.own[c.ID] = append(own, m)
	}
	u.applyWatermarks(l, m)
	return nil
}

// setLastMessage makes m its chat's last message unless there is a later one. New
// messages of the present have the highest seq.
func (u *batch) setLastMessage(ctx context.Context, c *chatRow, m *messageRow) error {
	if m.PastUS == 0 && m.Seq > c.LastMessage {
		c.LastMessage = m.Seq
		return nil
	}
	was, err := u.lastMessageOf(ctx, c)
	if err == nil && (was == nil || was.before(m)) {
		c.LastMessage = m.Seq
	}
	return err
}

// lastMessageOf is a chat's last message, nil when it has none any more.
func (u *batch) lastMessageOf(ctx context.Context, c *chatRow) (*messageRow, error) {
	if c.LastMessage != 0 && u.messages[c.LastMessage] == nil {
		if err := u.load(ctx, []int64{c.LastMessage}); err != nil {
			return nil, err
		}
	}
	return u.messages[c.LastMessage], nil
}

// noteInbound notes that the contact wrote or called: free-form messages may follow
// for as long as the kind of line, or the network itself, says.
func (c *chatRow) noteInbound(l referenceInfo, atUS, untilUS int64) {
	if untilUS == 0 && l.Window > 0 {
		untilUS = atUS + l.Window.Microseconds()
	}
	c.WindowUS = max(c.WindowUS, untilUS)
}

// receivedAgain takes from a message that came again what it adds to imported history:
// the file that was missing there, or that it is no history.
func (u *batch) receivedAgain(ctx context.Context, a inboundEvent, e *provider.Message, m *messageRow) error {
	if m == nil || u.chats[m.Chat] == nil {
		return nil
	}
	var was Body
	_ = json.Unmarshal([]byte(m.Body), &was) // written by this package
	if now, hidden := e.Content.(provider.Unknown); was.Undecryptable() && (!hidden || now.Kind != provider.Undecryptable) {
		return u.readable(a, e, m)
	}
	if m.PastUS == 0 {
		return nil
	}
	if media, ok := e.Content.(provider.Media); ok && was.Placeholder() && media.Kind != provider.Placeholder {
		m.Body = a.body
		m.setMissingFile(e)
		u.dirtyMessages.add(m)
		u.rewritten.add(m)
		u.expect(a.reference, e, m)
	}
	if e.Historical {
		return nil
	}
	m.PastUS = 0
	u.dirtyMessages.add(m)
	u.rewritten.add(m)
	return u.messageReceived(ctx, a.reference, e, m)
}

// readable gives a message that could not be read its content, and announces
// it once more.
func (u *batch) readable(a inboundEvent, e *provider.Message, m *messageRow) error {
	c := u.chats[m.Chat]
	m.Body = c.understand(e, a.body)
	m.setMissingFile(e)
	u.dirtyMessages.add(m)
	u.rewritten.add(m)
	u.expect(a.reference, e, m)
	if !e.Historical {
		u.answered(c, e)
		u.emit(a.reference.Account, EventMessage, c, m)
	}
	return nil
}
