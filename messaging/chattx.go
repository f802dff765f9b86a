package messaging

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/text"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/internal/timeline"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// UpdateChatTx is [Account.UpdateChat] when tx commits.
func (a *Account) UpdateChatTx(ctx context.Context, on Tx, ref provider.ReferenceID, chatID string, change ChatChange) (Chat, error) {
	tx, err := a.s.db.Join(on)
	if err != nil {
		return Chat{}, err
	}
	who, err := a.s.recipients.Person(ctx, tx, a.id, ref, chatID)
	if err != nil {
		return Chat{}, err
	}
	u := a.s.store.Begin(tx)
	c, err := updateChat(ctx, u, who, change)
	if err != nil {
		return Chat{}, err
	}
	return chatView(u, c), u.Flush(ctx)
}

// ChatTx is [Account.Chat] within a transaction that writes, until whose end
// the chat is locked: what is decided by it still holds then.
func (a *Account) ChatTx(ctx context.Context, on Tx, ref provider.ReferenceID, chatID string) (Chat, error) {
	tx, err := a.s.db.Join(on)
	if err != nil {
		return Chat{}, err
	}
	who, err := a.s.recipients.Person(ctx, tx, a.id, ref, chatID)
	if err != nil {
		return Chat{}, err
	}
	u := a.s.store.Begin(tx)
	c, err := store.LockChat(ctx, u, who.Reference, who.Address)
	if err != nil {
		return Chat{}, err
	}
	if err := u.Load(ctx, []int64{c.LastMessage}); err != nil {
		return Chat{}, err
	}
	return chatView(u, c), nil
}

// ChatByKey returns the chat whose events have a key, as [Account.Chat] does but
// without its last message. A chat that has become one with another has no key any
// more: it is [ErrNotFound].
func (a *Account) ChatByKey(ctx context.Context, key string) (Chat, error) {
	return a.chatByKey(ctx, a.s.db, key, "")
}

// ChatByKeyTx is [Account.ChatByKey] within a transaction that writes, until whose end
// the chat is locked.
func (a *Account) ChatByKeyTx(ctx context.Context, on Tx, key string) (Chat, error) {
	tx, err := a.s.db.Join(on)
	if err != nil {
		return Chat{}, err
	}
	lock := ""
	if a.s.db.Dialect == database.Postgres {
		lock = " FOR UPDATE OF c"
	}
	return a.chatByKey(ctx, tx, key, lock)
}

const selectChatByKey = `SELECT ` + store.ChatColumns + ` FROM messaging_chat c JOIN messaging_reference r ON r.id = c.reference
	WHERE c.id = $1 AND r.account = $2`

func (a *Account) chatByKey(ctx context.Context, q database.Reader, key, lock string) (Chat, error) {
	ref, id, valid := store.ParseChatKey(key)
	if !valid {
		return Chat{}, ErrNotFound
	}
	var c store.Chat
	err := q.GetContext(ctx, &c, selectChatByKey+lock, id, a.id)
	if errors.Is(err, sql.ErrNoRows) || err == nil && (c.Deleted() || c.Reference != ref) {
		return Chat{}, ErrNotFound
	}
	if err != nil {
		return Chat{}, fmt.Errorf("reading a chat: %w", err)
	}
	return view(&c, nil), nil
}

// chatView is a chat whose last message is loaded, as users see it.
func chatView(u *store.Batch, c *store.Chat) Chat {
	m := u.Messages[c.LastMessage]
	if m == nil {
		return view(c, nil)
	}
	last := m.View(c)
	return view(c, &last)
}

// ChatKey returns the key under which the events of a chat are in order, and
// the chat's own id. It makes the chat when the contact is new.
func (a *Account) ChatKey(ctx context.Context, ref provider.ReferenceID, chatID string) (key, id string, err error) {
	who, err := a.s.recipients.Person(ctx, a.s.db, a.id, ref, chatID)
	if err != nil {
		return "", "", err
	}
	c, err := a.s.store.ChatByAddress(ctx, a.s.db, ref, who.Address)
	if errors.Is(err, ErrNotFound) {
		err = a.s.store.InBatch(ctx, func(u *store.Batch) error {
			u.Bounded = true
			if err := u.Open(ctx, []store.Person{who}, nil); err != nil {
				return err
			}
			c = u.ChatOf(who)
			return nil
		})
	}
	if err != nil {
		return "", "", err
	}
	return store.ChatKey(c.Reference, c.ID), c.ChatID, nil
}

// InboundMessage is what the engines of bots want to know of a contact's message
// beside its [Event].
type InboundMessage struct {
	Kind  provider.Kind // of the reference
	First bool          // no earlier message of the contact is in the chat, imported history aside
}

// InboundMessageTx looks at a message of a contact, for a [Sink].
func (a *Account) InboundMessageTx(ctx context.Context, on Tx, ref provider.ReferenceID, messageID string) (InboundMessage, error) {
	tx, err := a.s.db.Join(on)
	if err != nil {
		return InboundMessage{}, err
	}
	var out InboundMessage
	err = tx.GetContext(ctx, &out, `SELECT r.kind, NOT EXISTS (SELECT 1 FROM messaging_message o
			WHERE o.chat = m.chat AND o.past_us = 0 AND o.seq < m.seq AND NOT o.mine)
			AND NOT EXISTS (SELECT 1 FROM messaging_merge g WHERE g.gone = m.chat) AS first
		FROM messaging_message m JOIN messaging_reference r ON r.id = m.reference
		WHERE m.reference = $1 AND m.id = $2 AND r.account = $3`, ref, messageID, a.id)
	if errors.Is(err, sql.ErrNoRows) {
		return out, ErrNotFound
	}
	if err != nil {
		return out, fmt.Errorf("looking at a message of a contact: %w", err)
	}
	return out, nil
}

// maxExtracted is how many bytes of JSON may be kept of what was found in a
// message.
const maxExtracted = 32 << 10

// ExtractedTx notes what was found in a message, by name: in its record, and as
// variables of its chat, which is locked from then on. It returns the record,
// and false, having changed nothing, when that was noted before: whatever else
// follows in the same transaction follows once. Variables that the chat has no
// room for are left out. Values of more than 32 KiB in total are an [*Invalid].
func (a *Account) ExtractedTx(
	ctx context.Context, on Tx, ref provider.ReferenceID, chatID, messageID string, values map[string]json.RawMessage,
) (Message, bool, error) {
	if len(payload.MustEncode(values)) > maxExtracted {
		return Message{}, false, &Invalid{Field: "values", Message: fmt.Sprintf("must take at most %d bytes", maxExtracted)}
	}
	tx, err := a.s.db.Join(on)
	if err != nil {
		return Message{}, false, err
	}
	who, err := a.s.recipients.Person(ctx, tx, a.id, ref, chatID)
	if err != nil {
		return Message{}, false, err
	}
	u := a.s.store.Begin(tx)
	c, err := store.LockChat(ctx, u, who.Reference, who.Address)
	if err != nil {
		return Message{}, false, err
	}
	m, err := messageOf(ctx, u, c, text.Sanitize(messageID))
	if err != nil {
		return Message{}, false, err
	}
	var body Body
	_ = json.Unmarshal([]byte(m.Body), &body) // written by this package
	if len(body.Extracted) > 0 || len(values) == 0 {
		return m.View(c), false, nil
	}
	body.Extracted = values
	m.Body = text.Sanitize(string(payload.MustEncode(body)))
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
