package messaging

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/trunklinehq/trunkline/messaging/internal/recipient"
	"github.com/trunklinehq/trunkline/messaging/internal/sanitize"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
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

// ReferencesWithChat returns the account's references that have a chat of an id, in any of
// the forms in which their kinds write it, the oldest first. It finds more
// rather than less: [Account.Chat] says whether a reference takes the id.
func (a *Account) ReferencesWithChat(ctx context.Context, chatID string) ([]provider.ReferenceID, error) {
	p := store.Params{a.id}
	var any []string
	for _, kind := range a.s.store.Kinds {
		names, err := candidates(kind, chatID)
		if err != nil {
			return nil, err
		}
		of := p.Add(string(kind.Kind()))
		for _, n := range names {
			any = append(any, `r.kind = `+of+` AND x.kind = `+p.Add(string(n.Kind))+` AND x.alias = `+p.Add(n.Value))
		}
	}
	lines := []provider.ReferenceID{}
	if len(any) == 0 {
		return lines, nil
	}
	err := a.s.db.SelectContext(ctx, &lines, `SELECT DISTINCT x.reference FROM messaging_alias x JOIN messaging_reference r ON r.id = x.reference
		WHERE r.account = $1 AND (`+strings.Join(any, ` OR `)+`) ORDER BY x.reference`, p...)
	if err != nil {
		return nil, fmt.Errorf("looking for the references of a chat: %w", err)
	}
	return lines, nil
}

// candidates are the ids that a chat id may be on references of a kind.
func candidates(p provider.Provider, chatID string) ([]store.TypedID, error) {
	chatID = strings.TrimSpace(store.Sanitize(chatID))
	var addr provider.Address
	var err error
	id, single := strings.CutSuffix(chatID, recipient.SingleSuffix)
	out := []store.TypedID{{Kind: store.IDChat, Value: chatID}}
	if group, ok := strings.CutSuffix(chatID, recipient.GroupSuffix); ok {
		addr, err = recipient.GroupNamed(p, group)
	} else {
		addr, err = recipient.Address(p, id)
	}
	var bad *Invalid
	switch {
	case err == nil:
		out = append(out, store.IDs(addr)...)
	case !errors.As(err, &bad):
		return nil, err
	}
	if single {
		out = append(out, store.OfAnyKind(id)...)
	} else if recipient.AssumedPhone(addr, chatID) {
		out = append(out, store.TypedID{Kind: store.IDLID, Value: addr.Phone})
	}
	return slices.DeleteFunc(out, func(id store.TypedID) bool { return !sanitize.IsName(id.Value) }), nil
}
