package messaging

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

// Identity holds the names of a person, or of a group, on a reference.
type Identity struct {
	ChatID   string  `json:"chatId" doc:"Of the chat, as it is written now." example:"16505551234"`
	Phone    *string `json:"phone" example:"16505551234"`
	LID      *string `json:"lid" doc:"WhatsApp's hidden id."`
	UserID   *string `json:"userId" doc:"Business-scoped, or page-scoped." example:"US.40070010020030040055"`
	Username *string `json:"username"`
}

// Resolve returns the names of whoever is known by id: any id that the chat
// has or had, in any form that a send takes, or a user name. Somebody who has
// no chat is [ErrNotFound].
func (a *Account) Resolve(ctx context.Context, ref provider.ReferenceID, id string) (Identity, error) {
	row, p, err := a.opened(ctx, ref)
	if err != nil {
		return Identity{}, err
	}
	c, err := a.s.chatNamed(ctx, row.ID, p, id)
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

// chatNamed reads the chat of an id or of a user name.
func (s *Service) chatNamed(ctx context.Context, ref provider.ReferenceID, p provider.Provider, id string) (*store.Chat, error) {
	addr, malformed := s.recipient(ctx, s.db, ref, p, id)
	malformed = renamed(malformed, "id")
	var bad *Invalid
	switch {
	case errors.As(malformed, &bad):
	case malformed != nil:
		return nil, malformed
	default:
		c, err := s.store.ChatByAddress(ctx, s.db, ref, addr)
		if !errors.Is(err, ErrNotFound) {
			return c, err
		}
	}
	name := strings.TrimPrefix(strings.TrimSpace(store.Sanitize(id)), "@")
	var rows []*store.Chat
	err := s.db.SelectContext(ctx, &rows, `SELECT `+store.ChatColumns+` FROM messaging_chat c
		WHERE c.reference = $1 AND c.username <> '' AND c.username IN ($2, $3) ORDER BY c.name_us DESC LIMIT 1`, ref, name, strings.ToLower(name))
	switch {
	case err != nil:
		return nil, fmt.Errorf("resolving a user name: %w", err)
	case len(rows) > 0:
		return rows[0], nil
	case malformed != nil:
		return nil, malformed
	}
	return nil, ErrNotFound
}
