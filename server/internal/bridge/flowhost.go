package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"github.com/trunklinehq/trunkline/aiflow"
	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/aiflow/memory"
	"github.com/trunklinehq/trunkline/botengine"
	"github.com/trunklinehq/trunkline/extractor/store"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
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

// BatchTx locks chats, for what the turns in them do in one transaction.
func (h *FlowHost) BatchTx(ctx context.Context, tx runtime.Tx, chats []runtime.Chat) (in runtime.ChatService, flush func(context.Context) error, err error) {
	batch, err := h.Messaging.BatchTx(tx)
	if err != nil {
		return nil, nil, err
	}
	keys := make([]string, len(chats))
	for i, c := range chats {
		keys[i] = c.Key
	}
	if err := batch.Lock(ctx, keys...); err != nil {
		return nil, nil, err
	}
	return &flowBatch{h, batch}, batch.Flush, nil
}
