package ingest

import (
	"context"
	"fmt"

	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// callSteps orders the steps of calls; nothing follows the last ones.
var callSteps = map[provider.CallStatus]int{
	provider.CallRinging: 1, provider.CallAccepted: 2,
	provider.CallRejected: 3, provider.CallMissed: 3, provider.CallEnded: 3,
}

// loadCalls reads the calls of which something new is told.
func loadCalls(ctx context.Context, u *store.Batch, b *inboundBatch) error {
	var keys store.Ordered[store.CallKey]
	for i, a := range b.as {
		if e, ok := a.Event.(*provider.Call); ok && b.isNew[i] {
			keys.Add(store.CallKey{Reference: a.Reference.ID, ID: e.CallID})
		}
	}
	values := make([][]any, len(keys.Items))
	for i, k := range keys.Items {
		values[i] = []any{k.Reference, k.ID}
	}
	rows, err := store.SelectAmong[*store.Call](ctx, u, `SELECT reference, call_id, chat, status FROM messaging_call WHERE`, `(reference, call_id)`, store.KeyTypes, values, "")
	if err != nil {
		return fmt.Errorf("reading calls: %w", err)
	}
	for _, r := range rows {
		u.Calls[r.CallKey] = r
	}
	return nil
}

// called lets a call take a step, and says so. A step that comes late is none.
func called(u *store.Batch, l store.ReferenceInfo, e *provider.Call) {
	key := store.CallKey{Reference: l.ID, ID: e.CallID}
	row := u.Calls[key]
	if row == nil {
		row = &store.Call{CallKey: key}
		u.Calls[key] = row
	}
	if callSteps[e.Status] <= callSteps[row.Status] {
		return
	}
	status := e.Status
	if row.Status == provider.CallAccepted && status == provider.CallMissed {
		status = provider.CallEnded // the reference did not remember, for it was opened again
	}
	c, at := u.ChatOf(store.Person{Reference: l, Address: e.Chat}), store.NetworkTime(u, e.At)
	row.Chat, row.Status, row.Changed = c.ID, status, true
	c.ActivityUS = max(c.ActivityUS, at)
	if !e.Mine && !c.IsGroup && e.RejectedBy == "" {
		c.SetName(e.From, at)
		noteInbound(c, l, at, 0)
	}
	u.ActiveChats.Add(c)
	u.Events = append(u.Events, payload.Event{
		ID: store.NewID(), Type: payload.EventCalls, Account: l.Account, Reference: l.ID, Key: store.ChatKey(l.ID, c.ID), ChatID: c.ChatID, At: u.Now,
		Payload: payload.MustEncode(payload.CallPayload{
			Reference: l.ID, Ref: l.ID, RemoteJID: c.Address().RemoteJID(), ChatID: c.ChatID, ID: e.CallID, Status: status, Video: e.Video,
			MessageTimestamp: payload.TimeOf(at), RejectedBy: e.RejectedBy,
		}),
		Traceparent: u.Traceparent,
	})
}
