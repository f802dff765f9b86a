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

// ReferencesWithChat returns the account's references that have a chat of an id, in any of
// the forms in which their kinds write it, the oldest first. It finds more
// rather than less: [Account.Chat] says whether a reference takes the id.
func (a *Account) ReferencesWithChat(ctx context.Context, chatID string) ([]provider.ReferenceID, error) {
	p := store.Params{a.id}
	var any []string
	for _, kind := range a.s.kinds {
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
