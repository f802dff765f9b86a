package messaging

import (
	"context"
	"errors"
	"fmt"

	"github.com/trunklinehq/trunkline/provider"
)

// ChatName is a name by which a chat is or was known on its reference.
type ChatName struct {
	Reference provider.ReferenceID
	ID        string
}

// maxChatNames bounds the names of one contact.
const maxChatNames = 64

// Names returns the chat ids that a chat has or had; everywhere adds those
// of the chats that the same phone number has on the account's other references. A
// chat that is not known has none.
func (a *Account) Names(ctx context.Context, ref provider.ReferenceID, chatID string, everywhere bool) ([]ChatName, error) {
	c, err := a.chat(ctx, ref, chatID)
	var bad *Invalid
	switch {
	case errors.Is(err, ErrNotFound), errors.As(err, &bad):
		return nil, nil
	case err != nil:
		return nil, err
	}
	ids := []int64{c.ID}
	if everywhere && c.Phone != "" {
		if ids, err = a.chatsOf(ctx, c.Phone); err != nil {
			return nil, err
		}
	}
	in, args := a.s.db.Dialect.InNumbers("chat", 1, ids)
	var rows []struct {
		Reference int64
		Alias     string
	}
	err = a.s.db.SelectContext(ctx, &rows, fmt.Sprintf(`SELECT reference, alias FROM messaging_alias WHERE kind = 'chat' AND %s ORDER BY chat, alias LIMIT %d`, in, maxChatNames), args...)
	if err != nil {
		return nil, fmt.Errorf("reading the names of a chat: %w", err)
	}
	names := make([]ChatName, len(rows))
	for i, r := range rows {
		names[i] = ChatName{provider.ReferenceID(r.Reference), r.Alias}
	}
	return names, nil
}

// chatsOf are the chats that a phone number has on the account's lines.
func (a *Account) chatsOf(ctx context.Context, phone string) ([]int64, error) {
	var ids []int64
	err := a.s.db.SelectContext(ctx, &ids, `SELECT DISTINCT c.id FROM messaging_alias x JOIN messaging_chat c ON c.id = x.chat
		JOIN messaging_reference r ON r.id = x.reference
		WHERE r.account = $1 AND x.kind = 'phone' AND x.alias = $2 AND c.phone = $2 AND NOT c.is_group ORDER BY c.id`, a.id, phone)
	if err != nil {
		return nil, fmt.Errorf("looking for the chats of a phone number: %w", err)
	}
	return ids, nil
}
