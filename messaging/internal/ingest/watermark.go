package ingest

import (
	"cmp"
	"context"
	"fmt"
	"strconv"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// isWatermark says whether a status is about all messages of a chat up to a time.
func isWatermark(e *provider.StatusChange) bool { return e.MessageID == "" && e.OwnID == "" }

// loadWatermarked reads the own messages that watermarks may be about: those that
// are not read, from where each chat's marks say.
func loadWatermarked(ctx context.Context, u *store.Batch, b *inboundBatch) error {
	from := map[int64]int64{} // by chat
	for _, a := range b.as {
		e, ok := a.Event.(*provider.StatusChange)
		if !ok || !isWatermark(e) {
			continue
		}
		c := u.ChatOf(store.Person{Reference: a.Reference, Address: e.To})
		m := c.Watermarks()
		k := m.Of(e.Status)
		if k == nil || database.Micros(e.UpTo) <= k.UpToUS {
			continue
		}
		if seq, twice := from[c.ID]; !twice || k.Seq < seq {
			from[c.ID] = k.Seq
		}
	}
	var values []any
	for chat, seq := range from {
		u.Own[chat] = nil
		values = append(values, chat, seq)
	}
	rows, err := database.SelectRows[*store.Message](ctx, u.Store.DB, u.Tx, database.Rows{
		Before: `SELECT ` + store.MessageColumns + ` FROM (`,
		After: `) AS v CROSS JOIN messaging_message m LEFT JOIN messaging_outbound o ON o.message = m.seq
			WHERE m.chat = v.column1 AND m.past_us = 0 AND m.seq >= v.column2 AND m.mine AND m.status < ` + strconv.Itoa(int(provider.StatusRead)) + `
			ORDER BY m.seq`,
		Types: []string{"BIGINT", "BIGINT"}, Values: values,
	})
	if err != nil {
		return fmt.Errorf("finding what was read: %w", err)
	}
	for _, m := range rows {
		if u.Added[store.MessageKey{Reference: m.Reference, ID: m.ID}] != nil {
			continue // it has yet to be announced, and joins the others then
		}
		if known := u.Messages[m.Seq]; known != nil {
			m = known
		}
		u.Messages[m.Seq] = m
		u.Own[m.Chat] = append(u.Own[m.Chat], m)
	}
	return nil
}

// applyWatermark applies a watermark: every own message of the chat that has left and is
// not newer gets the status. The messages are loaded.
func applyWatermark(u *store.Batch, l store.ReferenceInfo, e *provider.StatusChange) {
	c := u.ChatOf(store.Person{Reference: l, Address: e.To})
	m := c.Watermarks()
	k, upTo := m.Of(e.Status), database.Micros(e.UpTo)
	if k == nil || upTo <= k.UpToUS {
		return
	}
	k.UpToUS = upTo
	u.Watermarks.Set(c, m)
	for _, own := range u.Own[c.ID] {
		if isUnder(own, k, e.Status) {
			RaiseStatus(u, l, own, e.Status, payload.Failure{})
		}
	}
	m = c.Watermarks()
	k = m.Of(e.Status)
	k.Seq = nextOpen(u.Own[c.ID], e.Status, k.Seq)
	u.Watermarks.Set(c, m)
}

// nextOpen is the first of a chat's own messages that may still get a status by
// a watermark; from when there are none, else behind the last of them.
func nextOpen(own []*store.Message, s provider.Status, from int64) int64 {
	for _, m := range own {
		if m.Status < s && m.Status != provider.StatusFail {
			return m.Seq
		}
		from = max(from, m.Seq+1)
	}
	return from
}

// isUnder says whether a mark lifts an own message to its status.
func isUnder(m *store.Message, k *store.Watermark, s provider.Status) bool {
	left := m.Status == provider.StatusSending || m.Status == provider.StatusDelivered
	return left && m.Status < s && sentUS(m) <= k.UpToUS
}

// sentUS is when the network took an own message, as far as is known: by the
// network's clock when it has told, else when the attempt began that it
// answered, which is not later. Networks count milliseconds.
func sentUS(m *store.Message) int64 {
	if m.OwnID == "" {
		return m.AtUS
	}
	at := cmp.Or(m.StartedUS, m.AtUS)
	return at - at%1000
}

// applyWatermarks lifts an own message that has left to what the marks of its chat
// say already. Those after it will find it.
func applyWatermarks(u *store.Batch, l store.ReferenceInfo, m *store.Message) {
	c := u.Chats[m.Chat]
	if c == nil || c.Marks == "" || !m.Mine || m.PastUS != 0 {
		return
	}
	for _, s := range []provider.Status{provider.StatusDelivered, provider.StatusRead} {
		all := c.Watermarks()
		k := all.Of(s)
		switch {
		case isUnder(m, k, s):
			RaiseStatus(u, l, m, s, payload.Failure{})
		case m.Status < s && m.Seq < k.Seq:
			k.Seq = m.Seq
			u.Watermarks.Set(c, all)
		}
	}
}
