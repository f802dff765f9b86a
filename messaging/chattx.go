package messaging

import (
	"context"
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
	b, err := a.s.BatchTx(on)
	if err != nil {
		return Chat{}, err
	}
	c, err := b.update(ctx, a.id, ref, chatID, change)
	if err != nil {
		return Chat{}, err
	}
	if err := b.Flush(ctx); err != nil {
		return Chat{}, err
	}
	return chatView(b.u, c), nil
}

// ChatTx is [Account.Chat] within a transaction that writes, until whose end
// the chat is locked: what is decided by it still holds then.
func (a *Account) ChatTx(ctx context.Context, on Tx, ref provider.ReferenceID, chatID string) (Chat, error) {
	b, err := a.s.BatchTx(on)
	if err != nil {
		return Chat{}, err
	}
	c, err := b.find(ctx, a.id, ref, chatID)
	if err != nil {
		return Chat{}, err
	}
	if err := b.u.Load(ctx, []int64{c.LastMessage}); err != nil {
		return Chat{}, err
	}
	return chatView(b.u, c), nil
}

// ChatByKey returns the chat whose events have a key, as [Account.Chat] does but
// without its last message. A chat that has become one with another has no key any
// more: it is [ErrNotFound].
func (a *Account) ChatByKey(ctx context.Context, key string) (Chat, error) {
	ref, id, valid := store.ParseChatKey(key)
	if !valid {
		return Chat{}, ErrNotFound
	}
	c, found, err := a.s.chatsByID.Get(ctx, id)
	if err != nil {
		return Chat{}, fmt.Errorf("reading a chat: %w", err)
	}
	if !found || c.Deleted() || c.Reference != ref || c.Account != a.id {
		return Chat{}, ErrNotFound
	}
	return view(&c.Chat, nil), nil
}

// accountChat is a chat and whose it is.
type accountChat struct {
	store.Chat
	Account string `db:"account"`
}

// readChats reads chats of any account.
func (s *Service) readChats(ctx context.Context, ids []int64) (map[int64]accountChat, error) {
	in, args := s.db.Dialect.InNumbers("c.id", 1, ids)
	var rows []accountChat
	err := s.db.SelectContext(ctx, &rows, `SELECT `+store.ChatColumns+`, r.account FROM messaging_chat c JOIN messaging_reference r ON r.id = c.reference WHERE `+in, args...)
	out := make(map[int64]accountChat, len(rows))
	for _, c := range rows {
		out[c.ID] = c
	}
	return out, err
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

// InboundMessagesTx looks at the messages of contacts that events are about, for a
// [Sink]. It returns what it finds by the id of the event. A message that does not
// exist is left out.
func (s *Service) InboundMessagesTx(ctx context.Context, on Tx, evs []Event) (map[string]InboundMessage, error) {
	tx, err := s.db.Join(on)
	if err != nil {
		return nil, err
	}
	var values []any
	for _, ev := range evs {
		values = append(values, ev.ID, ev.Account, ev.Reference, ev.MessageID)
	}
	rows, err := database.SelectRows[struct {
		Event string        `db:"event"`
		Kind  provider.Kind `db:"kind"`
		First bool          `db:"first"`
	}](ctx, s.db, tx, database.Rows{
		Before: `WITH k (event, account, reference, id) AS (`,
		// The subselect has PostgreSQL find a message by its reference and its id,
		// before it knows how many messages a reference has.
		After: `) SELECT k.event, r.kind, NOT EXISTS (SELECT 1 FROM messaging_message o
				WHERE o.chat = m.chat AND o.past_us = 0 AND o.seq < m.seq AND NOT o.mine)
				AND NOT EXISTS (SELECT 1 FROM messaging_merge g WHERE g.gone = m.chat) AS first
			FROM k JOIN messaging_message m ON m.seq = (SELECT n.seq FROM messaging_message n WHERE n.reference = k.reference AND n.id = k.id)
			JOIN messaging_reference r ON r.id = k.reference AND r.account = k.account`,
		Types: []string{"TEXT", "TEXT", "BIGINT", "TEXT"}, Values: values, Set: true,
	})
	if err != nil {
		return nil, fmt.Errorf("looking at messages of contacts: %w", err)
	}
	out := make(map[string]InboundMessage, len(rows))
	for _, r := range rows {
		out[r.Event] = InboundMessage{Kind: r.Kind, First: r.First}
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
	if err := changeIn(u, who.Reference, c, ChatChange{Variables: values}); err != nil {
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
