package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// ChatByAddress reads a chat by any id of addr, or fails with [ErrNotFound].
func (s *Store) ChatByAddress(ctx context.Context, q database.Reader, ref provider.ReferenceID, addr provider.Address) (*Chat, error) {
	known, err := s.ChatsNamed(ctx, q, ref, IDs(addr))
	if err != nil {
		return nil, err
	}
	if len(known) == 0 {
		return nil, payload.ErrNotFound
	}
	return &known[0].Chat, nil
}

// LockChat locks a chat that exists.
func LockChat(ctx context.Context, u *Batch, l ReferenceInfo, addr provider.Address) (*Chat, error) {
	who := Person{Reference: l, Address: addr}
	if err := u.FindAliases(ctx, []Person{who}); err != nil {
		return nil, err
	}
	var ids []int64
	for _, id := range IDs(addr) {
		if chat, known := u.Aliases[ChatName{l.ID, id}]; known {
			ids = append(ids, chat)
		}
	}
	if len(ids) == 0 {
		return nil, payload.ErrNotFound
	}
	if err := u.Lock(ctx, ids); err != nil {
		return nil, err
	}
	return u.ChatOf(who), nil
}

// ChatsNamed reads the chats that ids lead to, once for each id that does, in
// the order of the ids.
func (s *Store) ChatsNamed(ctx context.Context, q database.Reader, ref provider.ReferenceID, names []TypedID) ([]*NamedChat, error) {
	if len(names) == 0 {
		return nil, nil
	}
	args := []any{ref}
	for _, id := range names {
		args = append(args, string(id.Kind), id.Value)
	}
	type found struct {
		Kind  IDKind `db:"alias_kind"`
		Alias string `db:"alias"`
		Chat
	}
	var rows []*found
	err := q.SelectContext(ctx, &rows, `SELECT a.kind AS alias_kind, a.alias, `+ChatColumns+`
		FROM messaging_alias a JOIN messaging_chat c ON c.id = a.chat WHERE a.reference = $1 AND (a.kind, a.alias) IN (VALUES `+
		s.DB.Dialect.Values(len(names), 2, 2, "TEXT", "TEXT")+`)`, args...)
	if err != nil {
		return nil, fmt.Errorf("reading a chat: %w", err)
	}
	var out []*NamedChat
	for _, id := range names {
		for _, r := range rows {
			if r.Kind == id.Kind && r.Alias == id.Value {
				out = append(out, &NamedChat{r.Chat, id})
			}
		}
	}
	return out, nil
}

// NamedChat is a chat, and one of the ids that lead to it.
type NamedChat struct {
	Chat
	As TypedID
}

// HiddenChatID is the chat id of a participant that is known by a LID; "":
// no contact is.
func (s *Store) HiddenChatID(ctx context.Context, q database.Reader, ref provider.ReferenceID, lid string) (string, error) {
	var chatID string
	err := q.GetContext(ctx, &chatID, `SELECT chat_id FROM messaging_lid WHERE reference = $1 AND lid = $2`, ref, lid)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("reading a hidden id: %w", err)
	}
	return chatID, nil
}
