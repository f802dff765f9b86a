package bridge

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/extractor"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/server/internal/view"
)

// flowBatch carries out what runs do in one transaction.
type flowBatch struct {
	*FlowHost
	batch *messaging.Batch
}

// SendTx queues a message of a bot.
func (h *flowBatch) SendTx(ctx context.Context, _ runtime.Tx, r runtime.Run, e flow.Send) (string, error) {
	content, err := messaging.DecodeContent(e.Message)
	if err != nil {
		return "", unsendable(err)
	}
	tag, err := messaging.DecodeTag(e.Message)
	if err != nil {
		return "", unsendable(err)
	}
	if !h.said.allow(r.Chat.Key, r.ID, e.ID, e.Message, h.Now()) {
		return "", &flow.Error{Code: "run.same_message", Message: "The same message was sent to the chat more than 20 times in five minutes."}
	}
	req := messaging.SendRequest{
		Reference: chatReference(r.Chat), ChatID: r.Chat.ID, Content: content, ReplyTo: e.ReplyTo, Tag: tag, Actor: actorOf(r.Engine),
	}
	m, err := h.batch.Send(ctx, r.Chat.Account, req)
	if err != nil {
		return "", unsendable(err)
	}
	return m.ID, nil
}

func actorOf(engine string) messaging.Actor {
	if engine == flow.EngineBot {
		return messaging.ActorBot
	}
	return messaging.ActorFlow
}

// unsendable translates the refusal of a message into an error of flows. Other
// errors are returned as they are, so that the turn is tried again.
func unsendable(err error) error {
	r, is := messaging.Refused(err)
	if !is || r.Code == httpapi.CodeUnavailable {
		return err
	}
	code := "channel.rejected"
	switch r.Code {
	case httpapi.CodeWindowClosed:
		code = "channel.window_closed"
	case httpapi.CodeUnsupported:
		code = "channel.unsupported"
	}
	switch r.Field {
	case "":
		return &flow.Error{Code: code, Message: r.Message}
	case "message.template.name", "message.template.language.code":
		code = "template.not_found"
	}
	return &flow.Error{Code: code, Message: r.Field + " " + r.Why}
}

// chat is the chat of a run, which is locked.
func (h *flowBatch) chat(ctx context.Context, r runtime.Run) (messaging.Chat, error) {
	chat, err := h.batch.Chat(r.Chat.Account, r.Chat.Key)
	if errors.Is(err, messaging.ErrNotFound) { // it may have become one with another
		chat, err = h.batch.ChatNamed(ctx, r.Chat.Account, chatReference(r.Chat), r.Chat.ID)
	}
	return chat, err
}

// update changes the chat of a run.
func (h *flowBatch) update(ctx context.Context, r runtime.Run, change messaging.ChatChange) error {
	_, err := h.batch.UpdateChat(ctx, r.Chat.Account, chatReference(r.Chat), r.Chat.ID, change)
	if err != nil {
		return unsendable(err)
	}
	return nil
}

// ContactTx changes tags, fields, language and the wish not to be written to.
func (h *flowBatch) ContactTx(ctx context.Context, _ runtime.Tx, r runtime.Run, e flow.ContactChange) error {
	change := messaging.ChatChange{Language: e.Language, OptedOut: e.OptedOut, Fields: map[string]json.RawMessage{}}
	for name, v := range e.Fields {
		raw, err := json.Marshal(v)
		if err != nil {
			return fmt.Errorf("writing field %s: %w", name, err)
		}
		change.Fields[name] = raw
	}
	if len(e.AddTags)+len(e.RemoveTags) > 0 {
		chat, err := h.chat(ctx, r)
		if err != nil {
			return unsendable(err)
		}
		tags := slices.DeleteFunc(chat.Tags, func(t string) bool { return slices.Contains(e.RemoveTags, t) })
		change.Tags = append(tags, slices.DeleteFunc(slices.Clone(e.AddTags), func(t string) bool { return slices.Contains(tags, t) })...)
	}
	return h.update(ctx, r, change)
}

// EventTx makes a data event for webhooks.
func (h *flowBatch) EventTx(ctx context.Context, tx runtime.Tx, r runtime.Run, e flow.DataEvent) error {
	if r.Chat.Reference == 0 {
		return &flow.Error{Code: flow.CodeNoChat, Message: "The run has no reference, so there are no webhooks to send the event to."}
	}
	data, err := json.Marshal(e.Data)
	if err != nil {
		return fmt.Errorf("writing an event's data: %w", err)
	}
	now := h.Now()
	p := extractor.DataPayload{
		Reference: r.Chat.Reference, Ref: r.Chat.Reference, Event: &extractor.FlowEvent{Name: e.Name, Data: data},
		MessageTimestamp: now.Unix(),
	}
	if r.Chat.Key != "" {
		chat, err := h.chat(ctx, r)
		if err != nil {
			return unsendable(err)
		}
		p.RemoteJID, p.ChatID = chat.RemoteJID(), chat.ID
	}
	body, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("writing an event: %w", err)
	}
	return hooks{h.Webhooks, h.Now}.dataTx(ctx, tx, r.Chat, cmp.Or(r.Chat.Key, r.ID), now, "", body)
}

// HandoffTx shows in the inbox that a person is asked for.
func (h *flowBatch) HandoffTx(ctx context.Context, _ runtime.Tx, r runtime.Run, e flow.Handoff) error {
	return h.update(ctx, r, messaging.ChatChange{Ask: &messaging.HandoffAsk{Target: e.Target, Note: e.Note, Pause: e.Pause}})
}

// EndHandoffTx takes that back.
func (h *flowBatch) EndHandoffTx(ctx context.Context, _ runtime.Tx, r runtime.Run, _ flow.EndHandoff) error {
	return h.update(ctx, r, messaging.ChatChange{EndAsk: true})
}

// RunTx shows on the stream, and with the chat, which bot talks in it.
func (h *flowBatch) RunTx(ctx context.Context, tx runtime.Tx, r runtime.Run) error {
	if !r.EndedAt.IsZero() && r.Engine == flow.EngineFlow && r.Status != runtime.Failed { // that may be retried
		if err := h.Memory.EndRunTx(ctx, tx, r.ID); err != nil {
			return err
		}
	}
	h.batch.Publish(messaging.Change{Account: r.Chat.Account, Reference: chatReference(r.Chat), Kind: "run", Data: view.NewRunView(r)})
	if r.Chat.Key == "" {
		return nil
	}
	active := messaging.ActiveBot{Engine: r.Engine, ID: r.Owner}
	chat, err := h.chat(ctx, r)
	if errors.Is(err, messaging.ErrNotFound) {
		return nil // it was erased when the run was begun
	}
	if err != nil {
		return unsendable(err)
	}
	if r.EndedAt.IsZero() == (chat.ActiveBot != nil && *chat.ActiveBot == active) {
		return nil // it is said already, or another has taken over
	}
	if !r.EndedAt.IsZero() {
		active = messaging.ActiveBot{}
	}
	return h.update(ctx, r, messaging.ChatChange{ActiveBot: &active})
}
