package messaging

import (
	"context"
	"fmt"

	"github.com/trunklinehq/trunkline/provider"
)

// ChatName is a name by which a chat is or was known on its line.
type ChatName struct {
	Reference provider.ReferenceID
	ID        string
}

// mostNames bounds the names of one contact.
const mostNames = 64

// Names returns the ids by which a chat is or was known; everywhere adds those
// of the chats that the same phone number has on the account's other lines. A
// chat that is not known has none.
func (a *Account) Names(ctx context.Context, ref provider.ReferenceID, chatID string, everywhere bool) ([]ChatName, error) {
	var chats []struct {
		ID    int64
		Phone string
	}
	err := a.s.db.SelectContext(ctx, &chats, `SELECT c.id, c.phone FROM messaging_alias x JOIN messaging_chat c ON c.id = x.chat
		JOIN messaging_reference r ON r.id = x.reference WHERE r.account = $1 AND x.reference = $2 AND x.alias = $3`, a.id, ref, clean(chatID))
	if err != nil {
		return nil, fmt.Errorf("looking for a chat: %w", err)
	}
	if len(chats) == 0 {
		return nil, nil
	}
	ids := []int64{chats[0].ID}
	if phone := chats[0].Phone; everywhere && phone != "" {
		if ids, err = a.chatsOf(ctx, phone); err != nil {
			return nil, err
		}
	}
	in, args := a.s.db.Dialect.InNumbers("chat", 1, ids)
	var rows []struct {
		Reference int64
		Alias     string
	}
	err = a.s.db.SelectContext(ctx, &rows, fmt.Sprintf(`SELECT reference, alias FROM messaging_alias WHERE %s ORDER BY chat, alias LIMIT %d`, in, mostNames), args...)
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
	forms := []any{phone}
	for _, p := range a.s.kinds {
		if addr, err := address(p, phone); err == nil {
			forms = append(forms, addr.ChatID)
		}
	}
	in, args := a.s.db.Dialect.In("x.alias", 3, forms)
	var ids []int64
	err := a.s.db.SelectContext(ctx, &ids, `SELECT DISTINCT c.id FROM messaging_alias x JOIN messaging_chat c ON c.id = x.chat
		JOIN messaging_reference r ON r.id = x.reference WHERE r.account = $1 AND c.phone = $2 AND NOT c.is_group AND `+in+` ORDER BY c.id`,
		append([]any{a.id, phone}, args...)...)
	if err != nil {
		return nil, fmt.Errorf("looking for the chats of a phone number: %w", err)
	}
	return ids, nil
}
