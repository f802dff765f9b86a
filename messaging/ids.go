package messaging

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

// ChatIDs returns every chat id that a chat has or had, given any of its ids:
// what was recorded elsewhere may have an older one. Of a chat that does not
// exist it is the id itself, in the form that the reference uses.
func (a *Account) ChatIDs(ctx context.Context, ref provider.ReferenceID, chatID string) ([]string, error) {
	row, p, err := a.opened(ctx, ref)
	if err != nil {
		return nil, err
	}
	addr, err := a.s.recipients.Address(ctx, a.s.db, row.ID, p, chatID)
	if err != nil {
		return nil, err
	}
	c, err := a.s.store.ChatByAddress(ctx, a.s.db, row.ID, addr)
	if errors.Is(err, ErrNotFound) {
		return []string{addr.ChatID}, nil
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

// MessageIDs returns every id by which a message is or was known, given any of
// them.
func (a *Account) MessageIDs(ctx context.Context, ref provider.ReferenceID, messageID string) ([]string, error) {
	if _, err := a.row(ctx, a.s.db, ref); err != nil {
		return nil, err
	}
	messageID = store.Sanitize(messageID)
	var others []string
	err := a.s.db.SelectContext(ctx, &others, `SELECT o.own_id FROM messaging_message m JOIN messaging_outbound o ON o.message = m.seq
			WHERE m.reference = $1 AND m.id = $2
		UNION ALL SELECT m.id FROM messaging_outbound o JOIN messaging_message m ON m.seq = o.message
			WHERE o.reference = $1 AND o.own_id = $2`, ref, messageID)
	if err != nil {
		return nil, fmt.Errorf("reading the ids of a message: %w", err)
	}
	return append(others, messageID), nil
}

// Identity holds the names of a person, or of a group, on a reference.
type Identity struct {
	ChatID   string  `json:"chatId" doc:"Of the chat, as it is written now." example:"16505551234"`
	Phone    *string `json:"phone" example:"16505551234"`
	LID      *string `json:"lid" doc:"WhatsApp's hidden id."`
	UserID   *string `json:"userId" doc:"Business-scoped, or page-scoped." example:"US.40070010020030040055"`
	Username *string `json:"username"`
}

// Resolve returns the names of the contact known by id: any id that the chat
// has or had, in any form that a send takes, or a user name. A person who has
// no chat is [ErrNotFound].
func (a *Account) Resolve(ctx context.Context, ref provider.ReferenceID, id string) (Identity, error) {
	row, p, err := a.opened(ctx, ref)
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
