package messaging

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// watermarks are up to when, by the network's clock, a contact has got and read
// what the account wrote. A chat has them where its network reports no single
// messages.
type watermarks struct {
	Delivered watermark `json:"delivered,omitzero"`
	Read      watermark `json:"read,omitzero"`
}

// watermark is a time, and where to begin to look for messages that are not newer
// and have not been lifted: none is before.
type watermark struct {
	UpToUS int64 `json:"upToUs"`
	Seq    int64 `json:"seq"`
}

// of is the mark of a status, nil when there is none.
func (m *watermarks) of(s provider.Status) *watermark {
	switch s {
	case provider.StatusDelivered:
		return &m.Delivered
	case provider.StatusRead:
		return &m.Read
	}
	return nil
}

func (c *chatRow) watermarks() (m watermarks) {
	if c.Marks != "" {
		_ = json.Unmarshal([]byte(c.Marks), &m) // written by this package
	}
	return m
}

func (u *batch) setWatermarks(c *chatRow, m watermarks) {
	c.Marks = string(payload.MustEncode(m))
	u.dirtyWatermarks.add(c)
}

// isWatermark says whether a status is about all messages of a chat up to a time.
func isWatermark(e *provider.StatusChange) bool { return e.MessageID == "" && e.OwnID == "" }

// loadWatermarked reads the own messages that watermarks may be about: those that
// are not read, from where each chat's marks say.
func (u *batch) loadWatermarked(ctx context.Context, b *inboundBatch) error {
	from := map[int64]int64{} // by chat
	for _, a := range b.as {
		e, ok := a.event.(*provider.StatusChange)
		if !ok || !isWatermark(e) {
			continue
		}
		c := u.chatOf(person{a.reference, e.To})
		m := c.watermarks()
		k := m.of(e.Status)
		if k == nil || database.Micros(e.UpTo) <= k.UpToUS {
			continue
		}
		if seq, twice := from[c.ID]; !twice || k.Seq < seq {
			from[c.ID] = k.Seq
		}
	}
	var values []any
	for chat, seq := range from {
		u.own[chat] = nil
		values = append(values, chat, seq)
	}
	rows, err := database.SelectRows[*messageRow](ctx, u.s.db, u.tx, database.Rows{
		Before: `SELECT ` + messageColumns + ` FROM (`,
		After: `) AS v CROSS JOIN messaging_message m LEFT JOIN messaging_outbound o ON o.message = m.seq
			WHERE m.chat = v.column1 AND m.past_us = 0 AND m.seq >= v.column2 AND m.mine AND m.status < ` + strconv.Itoa(int(provider.StatusRead)) + `
			ORDER BY m.seq`,
		Types: []string{"BIGINT", "BIGINT"}, Values: values,
	})
	if err != nil {
		return fmt.Errorf("finding what was read: %w", err)
	}
	for _, m := range rows {
		if u.added[messageKey{m.Reference, m.ID}] != nil {
			continue // it has yet to be announced, and joins the others then
		}
		if known := u.messages[m.Seq]; known != nil {
			m = known
		}
		u.messages[m.Seq] = m
		u.own[m.Chat] = append(u.own[m.Chat], m)
	}
	return nil
}

// applyWatermark applies a watermark: every own message of the chat that has left and is
// not newer gets the status. The messages are loaded.
func (u *batch) applyWatermark(l referenceInfo, e *provider.StatusChange) {
	c := u.chatOf(person{l, e.To})
	m := c.watermarks()
	k, upTo := m.of(e.Status), database.Micros(e.UpTo)
	if k == nil || upTo <= k.UpToUS {
		return
	}
	k.UpToUS = upTo
	u.setWatermarks(c, m)
	for _, own := range u.own[c.ID] {
		if own.isUnder(k, e.Status) {
			u.raiseStatus(l, own, e.Status, Failure{})
		}
	}
	m = c.watermarks()
	k = m.of(e.Status)
	k.Seq = nextOpen(u.own[c.ID], e.Status, k.Seq)
	u.setWatermarks(c, m)
}

// nextOpen is the first of a chat's own messages that may still get a status by
// a watermark; from when there are none, else behind the last of them.
func nextOpen(own []*messageRow, s provider.Status, from int64) int64 {
	for _, m := range own {
		if m.Status < s && m.Status != provider.StatusFail {
			return m.Seq
		}
		from = max(from, m.Seq+1)
	}
	return from
}

// isUnder says whether a mark lifts an own message to its status.
func (m *messageRow) isUnder(k *watermark, s provider.Status) bool {
	left := m.Status == provider.StatusSending || m.Status == provider.StatusDelivered
	return left && m.Status < s && m.sentUS() <= k.UpToUS
}

// sentUS is when the network took an own message, as far as is known: by the
// network's clock when it has told, else when the attempt began that it
// answered, which is not later. Networks count milliseconds.
func (m *messageRow) sentUS() int64 {
	if m.OwnID == "" {
		return m.AtUS
	}
	at := cmp.Or(m.StartedUS, m.AtUS)
	return at - at%1000
}

// applyWatermarks lifts an own message that has left to what the marks of its chat
// say already. Those after it will find it.
func (u *batch) applyWatermarks(l referenceInfo, m *messageRow) {
	c := u.chats[m.Chat]
	if c == nil || c.Marks == "" || !m.Mine || m.PastUS != 0 {
		return
	}
	for _, s := range []provider.Status{provider.StatusDelivered, provider.StatusRead} {
		all := c.watermarks()
		k := all.of(s)
		switch {
		case m.isUnder(k, s):
			u.raiseStatus(l, m, s, Failure{})
		case m.Status < s && m.Seq < k.Seq:
			k.Seq = m.Seq
			u.setWatermarks(c, all)
		}
	}
}

// mergeWatermarks takes over the marks of a chat that turned out to be the same.
func (u *batch) mergeWatermarks(keep, gone *chatRow) {
	if keep.Marks == "" && gone.Marks == "" {
		return
	}
	a, b := keep.watermarks(), gone.watermarks()
	u.setWatermarks(keep, watermarks{
		Delivered: watermark{UpToUS: max(a.Delivered.UpToUS, b.Delivered.UpToUS)},
		Read:      watermark{UpToUS: max(a.Read.UpToUS, b.Read.UpToUS)},
	})
}

func (u *batch) writeWatermarks(ctx context.Context) error {
	var rows [][]any
	for _, c := range u.dirtyWatermarks.items {
		if u.chats[c.ID] != nil { // else merged away
			rows = append(rows, []any{c.ID, c.Marks})
		}
	}
	err := u.update(ctx, `UPDATE messaging_chat SET marks = v.column2`, []string{"BIGINT", "TEXT"}, rows, sameChat)
	if err != nil {
		return fmt.Errorf("storing what was read: %w", err)
	}
	return nil
}
