package bridge

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/server/internal/view"
	"github.com/trunklinehq/trunkline/webhook"
)

// hooks makes webhook events of what happens to messages and sessions.
type hooks struct {
	*webhook.Dispatcher
	now func() time.Time
}

// eventsTx makes webhook events of events of messaging, and publishes them.
func (h hooks) eventsTx(ctx context.Context, tx database.Executor, evs []messaging.Event, to *audience) error {
	out := make([]webhook.Deferred, len(evs))
	for i, ev := range evs {
		scope := view.WebhookScope(ev.Reference)
		out[i].Event = webhook.Event{
			ID: ev.ID, Account: ev.Account, Scope: scope, Type: string(ev.Type), Key: ev.Key, At: ev.At,
			ChatID: ev.ChatID, MessageID: ev.MessageID, Body: ev.Payload, Traceparent: ev.Traceparent,
			Headers: map[string]string{"X-Trunkline-Reference": scope},
		}
	}
	return h.publishTx(ctx, tx, evs, out, to)
}

// publishTx publishes events of messages. Those that extractors will read wait
// for what they find, at endpoints that include it.
func (h hooks) publishTx(ctx context.Context, tx database.Executor, evs []messaging.Event, out []webhook.Deferred, to *audience) error {
	for i, ev := range evs {
		if !to.read(ev) {
			continue
		}
		var p messaging.MessagePayload
		if err := json.Unmarshal(ev.Payload, &p); err != nil {
			return fmt.Errorf("reading a message: %w", err)
		}
		if saysSomething(p) {
			out[i].Awaits, out[i].Until = ev.MessageID, h.now().Add(extractedTime)
		}
	}
	return h.DeferTx(ctx, tx, partExtracted, out...)
}

// mergedTx releases events that wait in chats that have become one with another,
// before what comes later.
func (h hooks) mergedTx(ctx context.Context, tx database.Executor, news []messaging.ChatUpdate) error {
	for _, n := range news {
		if len(n.Merged) == 0 {
			continue
		}
		if err := h.MergedTx(ctx, tx, view.WebhookScope(n.Reference), n.Key, n.Merged); err != nil {
			return err
		}
	}
	return nil
}

// dataTx publishes a data event, after the deferred events of its chat.
func (h hooks) dataTx(ctx context.Context, tx database.Executor, c runtime.Chat, key string, at time.Time, message string, body []byte) error {
	id, err := uuid.NewV7()
	if err != nil {
		return fmt.Errorf("making an id: %w", err)
	}
	scope := view.WebhookScope(chatReference(c))
	return h.DeferTx(ctx, tx, partExtracted, webhook.Deferred{Event: webhook.Event{
		ID: id.String(), Account: c.Account, Scope: scope, Type: "data", Key: key, At: at, ChatID: c.ID, MessageID: message, Body: body,
		Headers: map[string]string{"X-Trunkline-Reference": scope},
	}})
}
