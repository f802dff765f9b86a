package messaging

import (
	"context"
	"fmt"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// callKey identifies a call of a reference.
type callKey struct {
	Reference provider.ReferenceID `db:"reference"`
	ID        string               `db:"call_id"`
}

// callRow is how far a call has come.
type callRow struct {
	callKey
	Chat   int64               `db:"chat"`
	Status provider.CallStatus `db:"status"`

	changed bool
}

// callSteps orders the steps of calls; nothing follows the last ones.
var callSteps = map[provider.CallStatus]int{
	provider.CallRinging: 1, provider.CallAccepted: 2,
	provider.CallRejected: 3, provider.CallMissed: 3, provider.CallEnded: 3,
}

// loadCalls reads the calls of which something new is told.
func (u *batch) loadCalls(ctx context.Context, b *inboundBatch) error {
	var keys ordered[callKey]
	for i, a := range b.as {
		if e, ok := a.event.(*provider.Call); ok && b.isNew[i] {
			keys.add(callKey{a.reference.ID, e.CallID})
		}
	}
	values := make([][]any, len(keys.items))
	for i, k := range keys.items {
		values[i] = []any{k.Reference, k.ID}
	}
	rows, err := among[*callRow](ctx, u, `SELECT reference, call_id, chat, status FROM messaging_call WHERE`, `(reference, call_id)`, keyTypes, values, "")
	if err != nil {
		return fmt.Errorf("reading calls: %w", err)
	}
	for _, r := range rows {
		u.calls[r.callKey] = r
	}
	return nil
}

// called lets a call take a step, and says so. A step that comes late is none.
func (u *batch) called(l referenceInfo, e *provider.Call) {
	key := callKey{l.ID, e.CallID}
	row := u.calls[key]
	if row == nil {
		row = &callRow{callKey: key}
		u.calls[key] = row
	}
	if callSteps[e.Status] <= callSteps[row.Status] {
		return
	}
	status := e.Status
	if row.Status == provider.CallAccepted && status == provider.CallMissed {
		status = provider.CallEnded // the reference did not remember, for it was opened anew
	}
	c, at := u.chatOf(person{l, e.Chat}), u.networkTime(e.At)
	row.Chat, row.Status, row.changed = c.ID, status, true
	c.ActivityUS = max(c.ActivityUS, at)
	if !e.Mine && !c.IsGroup {
		c.setName(e.From, at)
		c.noteInbound(l, at, 0)
	}
	u.activeChats.add(c)
	u.events = append(u.events, Event{
		ID: newID(), Type: EventCalls, Account: l.Account, Reference: l.ID, Key: chatKey(l.ID, c.ID), ChatID: c.ChatID, At: u.now,
		Payload: payload.MustEncode(CallPayload{
			Reference: l.ID, Ref: l.ID, RemoteJID: c.address().RemoteJID(), ChatID: c.ChatID, ID: e.CallID, Status: status, Video: e.Video,
			MessageTimestamp: payload.TimeOf(at),
		}),
		Traceparent: u.traceparent,
	})
}

func (u *batch) writeCalls(ctx context.Context) error {
	var rows [][]any
	for _, r := range u.calls {
		if r.changed {
			rows = append(rows, []any{r.Reference, r.ID, r.Chat, string(r.Status), database.Micros(u.now)})
		}
	}
	err := u.insert(ctx, `INSERT INTO messaging_call (reference, call_id, chat, status, created_us)`,
		[]string{"BIGINT", "TEXT", "BIGINT", "TEXT", "BIGINT"}, rows,
		` ON CONFLICT (reference, call_id) DO UPDATE SET chat = excluded.chat, status = excluded.status`)
	if err != nil {
		return fmt.Errorf("storing calls: %w", err)
	}
	return nil
}
