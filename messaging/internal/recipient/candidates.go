package recipient

import (
	"errors"
	"slices"
	"strings"

	"github.com/trunklinehq/trunkline/internal/text"
	"github.com/trunklinehq/trunkline/messaging/internal/sanitize"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// Candidates are the ids that a chat id may be on references of a kind.
func Candidates(p provider.Provider, chatID string) ([]store.TypedID, error) {
	chatID = strings.TrimSpace(text.Sanitize(chatID))
	var addr provider.Address
	var err error
	id, single := strings.CutSuffix(chatID, SingleSuffix)
	out := []store.TypedID{{Kind: store.IDChat, Value: chatID}}
	if group, ok := strings.CutSuffix(chatID, GroupSuffix); ok {
		addr, err = GroupNamed(p, group)
	} else {
		addr, err = Address(p, id)
	}
	var bad *payload.Invalid
	switch {
	case err == nil:
		out = append(out, store.IDs(addr)...)
	case !errors.As(err, &bad):
		return nil, err
	}
	if single {
		out = append(out, store.OfAnyKind(id)...)
	} else if AssumedPhone(addr, chatID) {
		out = append(out, store.TypedID{Kind: store.IDLID, Value: addr.Phone})
	}
	return slices.DeleteFunc(out, func(id store.TypedID) bool { return !sanitize.IsName(id.Value) }), nil
}
