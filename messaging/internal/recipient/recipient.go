package recipient

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/text"
	"github.com/trunklinehq/trunkline/messaging/internal/refusal"
	"github.com/trunklinehq/trunkline/messaging/internal/sanitize"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// The ends of a remoteJid in payloads, and of a group's chat id.
const (
	SingleSuffix    = "::single"
	GroupSuffix     = "::group"
	groupChatSuffix = "@g.us"
)

// Resolver finds out who is meant by an id.
type Resolver struct{ store *store.Store }

// New returns a resolver over a store.
func New(s *store.Store) *Resolver { return &Resolver{s} }

// Address reads a chat id as a provider does, known or not.
func Address(p provider.Provider, chatID string) (provider.Address, error) {
	addr, err := p.Address(text.Sanitize(chatID))
	if bad, ok := errors.AsType[*provider.BadRecipient](err); ok {
		return addr, &payload.Invalid{Field: "chatId", Message: bad.Message}
	}
	if err != nil {
		return addr, fmt.Errorf("reading a chat id: %w", err)
	}
	return addr, nil
}

// Address reads a chat id as users write it on a reference: any id that the
// chat has or had, or its remoteJid in a payload. An id that may name two
// people is an [*Error] with [CodeAmbiguousChat]; what is no id is an
// [*Invalid]. Both name the field chatId.
func (r *Resolver) Address(ctx context.Context, q database.Reader, ref provider.ReferenceID, p provider.Provider, chatID string) (provider.Address, error) {
	chatID = strings.TrimSpace(text.Sanitize(chatID))
	if id, ok := strings.CutSuffix(chatID, SingleSuffix); ok {
		return r.contactNamed(ctx, q, ref, p, strings.TrimSpace(id))
	}
	if id, ok := strings.CutSuffix(chatID, GroupSuffix); ok {
		return GroupNamed(p, strings.TrimSpace(id))
	}
	addr, err := Address(p, chatID)
	var bad *payload.Invalid
	switch {
	case errors.As(err, &bad):
		return r.knownAs(ctx, q, ref, chatID, bad)
	case err != nil || !AssumedPhone(addr, chatID):
		return addr, err
	}
	return r.notHidden(ctx, q, ref, addr)
}

// AssumedPhone says whether an id was taken for a phone number only because it
// does not say what it is: digits without the suffix that chat ids of the
// network have.
func AssumedPhone(addr provider.Address, chatID string) bool {
	return addr.Phone != "" && addr.ChatID != addr.Phone && !strings.Contains(chatID, "@")
}

// knownAs reads a chat id that the provider does not understand, but has given
// to a chat itself. Otherwise it returns the provider's error.
func (r *Resolver) knownAs(ctx context.Context, q database.Reader, ref provider.ReferenceID, chatID string, bad *payload.Invalid) (provider.Address, error) {
	if !sanitize.IsName(chatID) {
		return provider.Address{}, bad
	}
	known, err := r.store.ChatsNamed(ctx, q, ref, []store.TypedID{{Kind: store.IDChat, Value: chatID}})
	if err != nil || len(known) == 0 {
		return provider.Address{}, errors.Join(err, bad)
	}
	return known[0].Address(), nil
}

// notHidden refuses digits that are known as a hidden id, and not as a
// phone number: the phone number belongs to another person.
func (r *Resolver) notHidden(ctx context.Context, q database.Reader, ref provider.ReferenceID, addr provider.Address) (provider.Address, error) {
	known, err := r.store.ChatsNamed(ctx, q, ref, []store.TypedID{{Kind: store.IDPhone, Value: addr.Phone}, {Kind: store.IDLID, Value: addr.Phone}})
	if err != nil {
		return addr, err
	}
	for _, c := range known {
		if c.As.Kind == store.IDPhone {
			return addr, nil
		}
	}
	right := ""
	if len(known) > 0 {
		right = known[0].ChatID
	} else if right, err = r.store.HiddenChatID(ctx, q, ref, addr.Phone); err != nil || right == "" {
		return addr, err
	}
	return addr, &payload.Error{
		Code: payload.CodeAmbiguousChat, Field: "chatId",
		Message: "These digits are the hidden id (LID) of a contact, not a phone number. The contact's chat id is " + right +
			". To write to the phone number with these digits, use the complete id " + addr.ChatID + ".",
	}
}

// contactNamed reads the id of a remoteJid: the contact's phone number,
// business-scoped user id, LID, page-scoped id or sandbox name.
func (r *Resolver) contactNamed(ctx context.Context, q database.Reader, ref provider.ReferenceID, p provider.Provider, id string) (provider.Address, error) {
	addr, err := Address(p, id)
	var bad *payload.Invalid
	if err != nil && !errors.As(err, &bad) {
		return addr, err
	}
	if err == nil && addr.Group {
		return addr, &payload.Invalid{Field: "chatId", Message: "is a group, but must be a contact: a group's remoteJid ends in " + GroupSuffix}
	}
	if !sanitize.IsName(id) {
		return addr, bad
	}
	may := store.OfAnyKind(id)
	if err == nil {
		may = append(may, store.IDs(addr)...)
	}
	known, failed := r.store.ChatsNamed(ctx, q, ref, may)
	if failed != nil {
		return addr, failed
	}
	hidden := ""
	if !slices.ContainsFunc(known, func(c *store.NamedChat) bool { return c.As.Kind == store.IDLID }) {
		if hidden, failed = r.store.HiddenChatID(ctx, q, ref, id); failed != nil {
			return addr, failed
		}
	}
	switch {
	case len(known) > 0 && hidden != "":
		return addr, mayBeEither(known[0].ChatID, hidden)
	case len(known) > 0:
		return onlyOne(known)
	case hidden != "":
		return Address(p, hidden)
	case err == nil && AssumedPhone(addr, id):
		return addr, &payload.Invalid{Field: "chatId", Message: "is the remoteJid of no chat of this reference: write to a new contact by its phone number, as " + addr.ChatID}
	}
	return addr, err
}

// onlyOne is the address of the only chat among those known by an id.
func onlyOne(known []*store.NamedChat) (provider.Address, error) {
	for _, c := range known[1:] {
		if c.ID != known[0].ID {
			return provider.Address{}, mayBeEither(known[0].ChatID, c.ChatID)
		}
	}
	return known[0].Address(), nil
}

// mayBeEither refuses a remoteJid that two contacts may have.
func mayBeEither(a, b string) *payload.Error {
	return &payload.Error{
		Code: payload.CodeAmbiguousChat, Field: "chatId",
		Message: "This remoteJid may be one of two contacts, whose chat ids are " + a + " and " + b + ": use one of these.",
	}
}

// GroupNamed reads the id of a group's remoteJid.
func GroupNamed(p provider.Provider, id string) (provider.Address, error) {
	for _, chatID := range []string{id + groupChatSuffix, id} {
		if addr, err := Address(p, chatID); err == nil && addr.Group {
			return addr, nil
		}
	}
	return provider.Address{}, &payload.Invalid{Field: "chatId", Message: "is not the remoteJid of a group"}
}

// Chat reads the chat of an id or of a user name.
func (r *Resolver) Chat(ctx context.Context, ref provider.ReferenceID, p provider.Provider, id string) (*store.Chat, error) {
	addr, malformed := r.Address(ctx, r.store.DB, ref, p, id)
	malformed = refusal.Renamed(malformed, "id")
	var bad *payload.Invalid
	switch {
	case errors.As(malformed, &bad):
	case malformed != nil:
		return nil, malformed
	default:
		c, err := r.store.ChatByAddress(ctx, r.store.DB, ref, addr)
		if !errors.Is(err, payload.ErrNotFound) {
			return c, err
		}
	}
	name := strings.TrimPrefix(strings.TrimSpace(text.Sanitize(id)), "@")
	var rows []*store.Chat
	err := r.store.DB.SelectContext(ctx, &rows, `SELECT `+store.ChatColumns+` FROM messaging_chat c
		WHERE c.reference = $1 AND c.username <> '' AND c.username IN ($2, $3) ORDER BY c.name_us DESC LIMIT 1`, ref, name, strings.ToLower(name))
	switch {
	case err != nil:
		return nil, fmt.Errorf("resolving a user name: %w", err)
	case len(rows) > 0:
		return rows[0], nil
	case malformed != nil:
		return nil, malformed
	}
	return nil, payload.ErrNotFound
}
