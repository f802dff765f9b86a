package recipient

import (
	"context"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

// Person reads a chat id on a reference of an account, as [Resolver.Address]
// does. The chat need not exist. A reference that the account lacks is
// [payload.ErrNotFound].
func (r *Resolver) Person(ctx context.Context, q database.Reader, account string, ref provider.ReferenceID, chatID string) (store.Person, error) {
	row, p, err := r.store.Opened(ctx, q, account, ref)
	if err != nil {
		return store.Person{}, err
	}
	addr, err := r.Address(ctx, q, row.ID, p, chatID)
	return store.Person{Reference: row.Info(p), Address: addr}, err
}

// Known reads the chat that a chat id names on a reference of an account, or
// fails with [payload.ErrNotFound].
func (r *Resolver) Known(ctx context.Context, account string, ref provider.ReferenceID, chatID string) (*store.Chat, error) {
	who, err := r.Person(ctx, r.store.DB, account, ref, chatID)
	if err != nil {
		return nil, err
	}
	return r.store.ChatByAddress(ctx, r.store.DB, who.Reference.ID, who.Address)
}
