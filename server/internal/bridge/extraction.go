package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/extractor"
	"github.com/trunklinehq/trunkline/extractor/store"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/server/internal/view"
)

const (
	// partExtracted is the part of a message event that extractors make.
	partExtracted = "extracted"
	// extractedTime is how long the message event waits for it: 15 s at most, of
	// which a second may pass until the clock is looked at.
	extractedTime = 13500 * time.Millisecond
)

// Prepare lets extractors read a message before a bot or a flow answers it. What
// they find is kept with the message and its chat, and published once: the
// record of the message says whether that is done.
func (h *FlowHost) Prepare(ctx context.Context, in runtime.Incoming) error {
	results, err := h.read(ctx, in)
	if err != nil {
		return err
	}
	id, _ := in.Message["id"].(string)
	if len(results) == 0 {
		leased, err := h.Webhooks.HasDeferred(ctx, in.Chat.Key)
		if err != nil || !leased {
			return err
		}
	}
	err = h.DB.Write(ctx, func(tx *database.Tx) error {
		return h.extractedTx(context.WithoutCancel(ctx), tx, in.Chat, id, results)
	})
	if errors.Is(err, messaging.ErrNotFound) {
		return nil // it was erased: its events are, too
	}
	if err != nil {
		return fmt.Errorf("storing what was found in a message: %w", err)
	}
	return nil
}

// read runs the extractors on a message, unless that was done before.
func (h *FlowHost) read(ctx context.Context, in runtime.Incoming) ([]store.Result, error) {
	text, _ := in.Message["text"].(string)
	id, _ := in.Message["id"].(string)
	if text == "" {
		return nil, nil
	}
	m, err := h.account(in.Chat).Message(ctx, chatReference(in.Chat), in.Chat.ID, id)
	if errors.Is(err, messaging.ErrNotFound) || err == nil && len(m.Extracted) > 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	chat, err := h.account(in.Chat).Chat(ctx, chatReference(in.Chat), in.Chat.ID)
	if errors.Is(err, messaging.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return h.Extractors.For(in.Chat.Account).Extract(ctx, store.Message{
		Said: view.SaidBy(chat, text, m.MessageTimestamp.Time), Reference: in.Chat.Reference, ChatID: in.Chat.ID,
		Owners: func(ctx context.Context) ([]string, error) { return h.owners(ctx, in.Chat) },
	})
}

// owners returns the bots and flows that listen on the reference of a chat, or have a
// run in it.
func (h *FlowHost) owners(ctx context.Context, c runtime.Chat) ([]string, error) {
	runs := h.Runs.For(c.Account)
	listeners, err := runs.Listeners(ctx, c.Reference)
	if err != nil {
		return nil, err
	}
	active, err := runs.Active(ctx, c)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, l := range listeners {
		if l.Enabled {
			out = append(out, l.Owner)
		}
	}
	for _, r := range active {
		out = append(out, r.Owner)
	}
	return out, nil
}

// extractedTx keeps what was found in a message, publishes it, and releases the
// message's event.
func (h *FlowHost) extractedTx(ctx context.Context, tx database.Executor, c runtime.Chat, id string, results []store.Result) error {
	values := store.Merge(results)
	m, first, err := h.account(c).ExtractedTx(ctx, tx, chatReference(c), c.ID, id, values)
	if _, ok := errors.AsType[*messaging.Invalid](err); ok {
		h.Log.WarnContext(ctx, "what was found in a message is too large to be kept", "reference", c.Reference)
		results = nil
		m, first, err = h.account(c).ExtractedTx(ctx, tx, chatReference(c), c.ID, id, nil)
	}
	if err != nil {
		return err
	}
	t := hooks{h.Webhooks, h.Now}
	if err := t.ReleaseTx(ctx, tx, c.Key, id, func(body []byte) ([]byte, error) { return withExtracted(body, m.Extracted) }); err != nil {
		return err
	}
	for _, r := range results {
		if !first {
			break
		}
		body, err := json.Marshal(extractor.DataPayload{
			Reference: c.Reference, Ref: c.Reference, RemoteJID: m.RemoteJID, ChatID: m.ChatID, MessageID: m.ID,
			Extractor: &r.Extractor, Values: r.Values, MessageTimestamp: m.MessageTimestamp.Unix(),
		})
		if err != nil {
			return fmt.Errorf("writing what was found: %w", err)
		}
		if err := t.dataTx(ctx, tx, c, c.Key, h.Now(), m.ID, body); err != nil {
			return err
		}
	}
	return nil
}

// withExtracted returns the payload of a message with what was found in it.
func withExtracted(body []byte, values map[string]json.RawMessage) ([]byte, error) {
	if len(values) == 0 {
		return body, nil
	}
	var p messaging.MessagePayload
	if err := json.Unmarshal(body, &p); err != nil {
		return nil, fmt.Errorf("reading a message: %w", err)
	}
	p.Extracted = values
	return json.Marshal(p)
}
