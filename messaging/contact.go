package messaging

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/trunklinehq/trunkline/messaging/internal/refusal"
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

// Contacts are the people and groups that an account writes with.
type Contacts Account

// Contacts returns the contacts of the account.
func (a *Account) Contacts() *Contacts { return (*Contacts)(a) }

// Names returns the chat ids that a chat has or had; everywhere adds those
// of the chats that the same phone number has on the account's other references. A
// chat that is not known has none.
func (a *Contacts) Names(ctx context.Context, ref provider.ReferenceID, chatID string, everywhere bool) ([]ChatName, error) {
	c, err := a.s.recipients.Known(ctx, a.id, ref, chatID)
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

// chatsOf are the chats that a phone number has on the account's references.
func (a *Contacts) chatsOf(ctx context.Context, phone string) ([]int64, error) {
	var ids []int64
	err := a.s.db.SelectContext(ctx, &ids, `SELECT DISTINCT c.id FROM messaging_alias x JOIN messaging_chat c ON c.id = x.chat
		JOIN messaging_reference r ON r.id = x.reference
		WHERE r.account = $1 AND x.kind = 'phone' AND x.alias = $2 AND c.phone = $2 AND NOT c.is_group ORDER BY c.id`, a.id, phone)
	if err != nil {
		return nil, fmt.Errorf("looking for the chats of a phone number: %w", err)
	}
	return ids, nil
}

// ChatIDs returns every chat id that a chat has or had, given any of its ids:
// what was recorded elsewhere may have an older one. Of a chat that does not
// exist it is the id itself, in the form that the reference uses.
func (a *Account) ChatIDs(ctx context.Context, ref provider.ReferenceID, chatID string) ([]string, error) {
	who, err := a.s.recipients.Person(ctx, a.s.db, a.id, ref, chatID)
	if err != nil {
		return nil, err
	}
	c, err := a.s.store.ChatByAddress(ctx, a.s.db, ref, who.Address)
	if errors.Is(err, ErrNotFound) {
		return []string{who.Address.ChatID}, nil
	}
	if err != nil {
		return nil, err
	}
	var others []string
	err = a.s.db.SelectContext(ctx, &others, `SELECT alias FROM messaging_alias WHERE chat = $1 AND kind = 'chat' AND alias <> $2`, c.ID, c.ChatID)
	if err != nil {
		return nil, fmt.Errorf("reading the names of a chat: %w", err)
	}
	return append(others, c.ChatID), nil
}

// Identity holds the names of a person, or of a group, on a reference.
type Identity struct {
	ChatID   string  `json:"chatId" doc:"Current id of the chat." example:"16505551234"`
	Phone    *string `json:"phone" example:"16505551234"`
	LID      *string `json:"lid" doc:"Hidden id of WhatsApp (LID)."`
	UserID   *string `json:"userId" doc:"Business-scoped or page-scoped id of the user." example:"US.40070010020030040055"`
	Username *string `json:"username"`
}

// Resolve returns the names of the contact known by id: any id that the chat
// has or had, in any form that a send takes, or a user name. A person who has
// no chat is [ErrNotFound].
func (a *Contacts) Resolve(ctx context.Context, ref provider.ReferenceID, id string) (Identity, error) {
	row, p, err := a.s.store.Opened(ctx, a.s.db, a.id, ref)
	if err != nil {
		return Identity{}, err
	}
	c, err := a.s.recipients.Chat(ctx, row.ID, p, id)
	if err != nil {
		return Identity{}, err
	}
	return identity(c), nil
}

func identity(c *store.Chat) Identity {
	out := identityOf(c.Address())
	out.Username = optional(c.Username)
	return out
}

func identityOf(a provider.Address) Identity {
	return Identity{ChatID: a.ChatID, Phone: optional(a.Phone), LID: optional(a.LID), UserID: optional(cmp.Or(a.UserID, a.PSID))}
}

// CheckNumber asks the network whether a phone number has an account there. An
// answer is kept for a day. A reference asks for twenty numbers a minute; beyond
// that it returns an [*Error] with [CodeRateLimited].
func (a *Contacts) CheckNumber(ctx context.Context, ref provider.ReferenceID, phone string) (Number, error) {
	row, p, err := a.s.store.Opened(ctx, a.s.db, a.id, ref)
	if err != nil {
		return Number{}, err
	}
	who, err := a.s.recipients.Address(ctx, a.s.db, row.ID, p, stripPunctuation(phone))
	switch {
	case err != nil:
		return Number{}, refusal.Renamed(err, "phone")
	case who.Group:
		return Number{}, &Invalid{Field: "phone", Message: "is the id of a group"}
	}
	return a.s.numbers.Check(ctx, row, who)
}

// stripPunctuation drops what people write between the digits of a number.
func stripPunctuation(s string) string {
	digits := strings.Map(func(r rune) rune {
		if strings.ContainsRune("+ -().", r) {
			return -1
		}
		return r
	}, strings.TrimSpace(s))
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return s
	}
	return digits
}
