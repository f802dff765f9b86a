package messaging

import (
	"cmp"
	"context"

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
