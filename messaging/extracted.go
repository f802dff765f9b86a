package messaging

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/internal/timeline"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// maxExtracted is how many bytes of JSON may be kept of what was found in a
// message.
const maxExtracted = 32 << 10

// ExtractedTx notes what was found in a message, by name: in its record, and as
// variables of its chat, which is locked from then on. It returns the record,
// and false, having changed nothing, when that was noted before: whatever else
// follows in the same transaction follows once. Variables that the chat has no
// room for are left out. Values of more than 32 KiB in total are an [*Invalid].
// Call [Service.Committed] after the commit.
func (a *Account) ExtractedTx(
	ctx context.Context, tx *sqlx.Tx, ref provider.ReferenceID, chatID, messageID string, values map[string]json.RawMessage,
) (Message, bool, error) {
	if len(payload.MustEncode(values)) > maxExtracted {
		return Message{}, false, &Invalid{Field: "values", Message: fmt.Sprintf("must take at most %d bytes", maxExtracted)}
	}
	who, err := a.personIn(ctx, tx, ref, chatID)
	if err != nil {
		return Message{}, false, err
	}
	u := a.s.store.Begin(tx)
	c, err := store.LockChat(ctx, u, who.Reference, who.Address)
	if err != nil {
		return Message{}, false, err
	}
	m, err := messageOf(ctx, u, c, store.Sanitize(messageID))
	if err != nil {
		return Message{}, false, err
	}
	var body Body
	_ = json.Unmarshal([]byte(m.Body), &body) // written by this package
	if len(body.Extracted) > 0 || len(values) == 0 {
		return m.View(c), false, nil
	}
	body.Extracted = values
	m.Body = store.Sanitize(string(payload.MustEncode(body)))
	u.Rewritten.Add(m)
	timeline.RecordStep(u, m, timeline.Entry{Step: StepExtracted})
	if _, err := updateChat(ctx, u, who, ChatChange{Variables: values}); err != nil {
		var full *Invalid
		if !errors.As(err, &full) {
			return Message{}, false, err
		}
	}
	u.Publish(who.Reference.Account, m.Reference, string(EventMessage), m.Record(payload.MustEncode(m.Head(c))))
	return m.View(c), true, u.Flush(ctx)
}

// messageOf loads a message of a locked chat.
func messageOf(ctx context.Context, u *store.Batch, c *store.Chat, id string) (*store.Message, error) {
	at, err := u.Locate(ctx, []store.MessageKey{{Reference: c.Reference, ID: id}})
	if err != nil {
		return nil, err
	}
	for _, l := range at {
		if l.Chat != c.ID {
			continue
		}
		if err := u.Load(ctx, []int64{l.Seq}); err != nil {
			return nil, err
		}
		return u.Messages[l.Seq], nil
	}
	return nil, ErrNotFound
}
