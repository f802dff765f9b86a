package bridge

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/trunklinehq/trunkline/aiflow"
	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/aiflow/memory"
	"github.com/trunklinehq/trunkline/botengine"
	"github.com/trunklinehq/trunkline/extractor"
	"github.com/trunklinehq/trunkline/extractor/store"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
	"github.com/trunklinehq/trunkline/server/internal/view"
	"github.com/trunklinehq/trunkline/webhook"
)

// FlowHost carries out what runs of bots and flows do: in chats, and with
// webhooks.
type FlowHost struct {
	Bots       *botengine.Service
	DB         *database.DB
	Extractors *store.Service
	Flows      *aiflow.Service
	Log        *slog.Logger
	Memory     *memory.Service
	Messaging  *messaging.Service
	Now        func() time.Time
	Runs       *runtime.Runtime
	Webhooks   *webhook.Dispatcher

	said repeats
}

func (h *FlowHost) account(c runtime.Chat) *messaging.Account { return h.Messaging.For(c.Account) }

func chatReference(c runtime.Chat) provider.ReferenceID { return provider.ReferenceID(c.Reference) }

// Snapshot shows a chat to a turn.
func (h *FlowHost) Snapshot(ctx context.Context, c runtime.Chat) (runtime.Snapshot, error) {
	chat, err := h.account(c).ChatByKey(ctx, c.Key)
	if errors.Is(err, messaging.ErrNotFound) { // it may have become one with another
		chat, err = h.account(c).Chat(ctx, chatReference(c), c.ID)
	}
	if errors.Is(err, messaging.ErrNotFound) {
		return runtime.Snapshot{Silent: true}, nil // it was erased: its runs are, too
	}
	if err != nil {
		return runtime.Snapshot{}, err
	}
	v := runtime.Snapshot{
		Contact: map[string]any{
			"id": chat.ID, "name": chat.Name, "phone": orNil(chat.Phone), "language": orNil(chat.Language),
			"tags": anyOf(chat.Tags), "fields": values(chat.Fields), "optedOut": chat.OptedOut,
		},
		Chat:   map[string]any{"id": chat.ID, "reference": int64(chat.Reference), "variables": values(chat.Variables)},
		Silent: chat.BotActive == 0 || chat.Handoff.Silent(h.Now()),
	}
	if chat.BotActive != 0 && v.Silent && chat.Handoff.Until != nil {
		v.Until = chat.Handoff.Until.Time
	}
	return v, nil
}

func orNil(s *string) any {
	if s == nil {
		return nil
	}
	return *s
}

func anyOf(words []string) []any {
	out := make([]any, len(words))
	for i, w := range words {
		out[i] = w
	}
	return out
}

// values are stored JSON values as expressions see them.
func values(in map[string]json.RawMessage) map[string]any {
	out := make(map[string]any, len(in))
	for name, raw := range in {
		var v any
		if json.Unmarshal(raw, &v) == nil {
			out[name] = v
		}
	}
	return out
}

// Jump finds the flow that takes over, among those of the same engine: the bots of
// the reference, or the flows of the project.
func (h *FlowHost) Jump(ctx context.Context, from runtime.Run, to flow.Jump) (runtime.Start, error) {
	var start runtime.Start
	var err error
	if from.Engine == flow.EngineBot {
		start, err = h.Bots.For(from.Chat.Account).Jump(ctx, from.Chat.Reference, to.Flow)
	} else {
		start, err = h.Flows.For(from.Chat.Account).Jump(ctx, from.Owner, to.Flow)
	}
	start.Input = to.Input
	return start, err
}

// SendTx queues a message of a bot.
func (h *FlowHost) SendTx(ctx context.Context, tx runtime.Tx, r runtime.Run, e flow.Send) (string, error) {
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
	m, err := h.account(r.Chat).SendTx(ctx, tx, req)
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

// update changes the chat of a run.
func (h *FlowHost) update(ctx context.Context, tx database.Executor, r runtime.Run, change messaging.ChatChange) error {
	_, err := h.account(r.Chat).UpdateChatTx(ctx, tx, chatReference(r.Chat), r.Chat.ID, change)
	if err != nil {
		return unsendable(err)
	}
	return nil
}

// ContactTx changes tags, fields, language and the wish not to be written to.
func (h *FlowHost) ContactTx(ctx context.Context, tx runtime.Tx, r runtime.Run, e flow.ContactChange) error {
	change := messaging.ChatChange{Language: e.Language, OptedOut: e.OptedOut, Fields: map[string]json.RawMessage{}}
	for name, v := range e.Fields {
		raw, err := json.Marshal(v)
		if err != nil {
			return fmt.Errorf("writing field %s: %w", name, err)
		}
		change.Fields[name] = raw
	}
	if len(e.AddTags)+len(e.RemoveTags) > 0 {
		chat, err := h.account(r.Chat).ChatTx(ctx, tx, chatReference(r.Chat), r.Chat.ID)
		if err != nil {
			return unsendable(err)
		}
		tags := slices.DeleteFunc(chat.Tags, func(t string) bool { return slices.Contains(e.RemoveTags, t) })
		change.Tags = append(tags, slices.DeleteFunc(slices.Clone(e.AddTags), func(t string) bool { return slices.Contains(tags, t) })...)
	}
	return h.update(ctx, tx, r, change)
}

// EventTx makes a data event for webhooks.
func (h *FlowHost) EventTx(ctx context.Context, tx runtime.Tx, r runtime.Run, e flow.DataEvent) error {
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
		chat, err := h.account(r.Chat).ChatTx(ctx, tx, chatReference(r.Chat), r.Chat.ID)
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
func (h *FlowHost) HandoffTx(ctx context.Context, tx runtime.Tx, r runtime.Run, e flow.Handoff) error {
	return h.update(ctx, tx, r, messaging.ChatChange{Ask: &messaging.HandoffAsk{Target: e.Target, Note: e.Note, Pause: e.Pause}})
}

// EndHandoffTx takes that back.
func (h *FlowHost) EndHandoffTx(ctx context.Context, tx runtime.Tx, r runtime.Run, _ flow.EndHandoff) error {
	return h.update(ctx, tx, r, messaging.ChatChange{EndAsk: true})
}

// RunTx shows on the stream, and with the chat, which bot talks in it.
func (h *FlowHost) RunTx(ctx context.Context, tx runtime.Tx, r runtime.Run) error {
	if !r.EndedAt.IsZero() && r.Engine == flow.EngineFlow && r.Status != runtime.Failed { // that may be retried
		if err := h.Memory.EndRunTx(ctx, tx, r.ID); err != nil {
			return err
		}
	}
	err := h.Messaging.PublishTx(ctx, tx, messaging.Change{
		Account: r.Chat.Account, Reference: chatReference(r.Chat), Kind: "run", Data: view.NewRunView(r),
	})
	if err != nil || r.Chat.Key == "" {
		return err
	}
	active := messaging.ActiveBot{Engine: r.Engine, ID: r.Owner}
	chat, err := h.account(r.Chat).ChatByKeyTx(ctx, tx, r.Chat.Key)
	if errors.Is(err, messaging.ErrNotFound) { // it may have become one with another
		chat, err = h.account(r.Chat).ChatTx(ctx, tx, chatReference(r.Chat), r.Chat.ID)
	}
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
	return h.update(ctx, tx, r, messaging.ChatChange{ActiveBot: &active})
}
