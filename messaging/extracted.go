package messaging

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"

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
		return Message{}, false, &Invalid{"values", fmt.Sprintf("must take at most %d bytes", maxExtracted)}
	}
	who, err := a.personIn(ctx, tx, ref, chatID)
	if err != nil {
		return Message{}, false, err
	}
	u := a.s.newBatch(tx)
	c, err := u.known(ctx, who.line, who.addr)
	if err != nil {
		return Message{}, false, err
	}
	m, err := u.messageOf(ctx, c, sanitize(messageID))
	if err != nil {
		return Message{}, false, err
	}
	var body Body
	_ = json.Unmarshal([]byte(m.Body), &body) // written by this package
	if len(body.Extracted) > 0 || len(values) == 0 {
		return m.view(c), false, nil
	}
	body.Extracted = values
	m.Body = sanitize(string(payload.MustEncode(body)))
	u.rewritten.add(m)
	u.recordStep(m, timelineEntry{Step: StepExtracted})
	if _, err := u.updateChat(ctx, who, ChatChange{Variables: values}); err != nil {
		var full *Invalid
		if !errors.As(err, &full) {
			return Message{}, false, err
		}
	}
	u.publish(who.line.Account, m.Reference, string(EventMessage), m.record(payload.MustEncode(m.head(c))))
	return m.view(c), true, u.flush(ctx)
}

// messageOf loads a message of a locked chat.
func (u *batch) messageOf(ctx context.Context, c *chatRow, id string) (*messageRow, error) {
	at, err := u.locate(ctx, []messageKey{{c.Reference, id}})
	if err != nil {
		return nil, err
	}
	for _, l := range at {
		if l.Chat != c.ID {
			continue
		}
		if err := u.load(ctx, []int64{l.Seq}); err != nil {
			return nil, err
		}
		return u.messages[l.Seq], nil
	}
	return nil, ErrNotFound
}
