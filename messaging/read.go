package messaging

import (
	"context"

	"github.com/trunklinehq/trunkline/internal/text"
	"github.com/trunklinehq/trunkline/messaging/internal/outbox"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

// MarkRead marks a chat's messages read, up to messageID or all when that is
// "", and tells the network. It returns the number of unread messages left.
func (a *Account) MarkRead(ctx context.Context, ref provider.ReferenceID, chatID, messageID string) (int64, error) {
	return markRead(ctx, a, ref, chatID, messageID, false)
}

// MarkReadTyping is [Account.MarkRead], and shows the contact that an answer
// is being written, where the reference can.
func (a *Account) MarkReadTyping(ctx context.Context, ref provider.ReferenceID, chatID, messageID string) (int64, error) {
	return markRead(ctx, a, ref, chatID, messageID, true)
}

func markRead(ctx context.Context, a *Account, ref provider.ReferenceID, chatID, messageID string, typing bool) (int64, error) {
	row, p, err := a.s.store.Opened(ctx, a.s.db, a.id, ref)
	if err != nil {
		return 0, err
	}
	addr, err := a.s.recipients.Address(ctx, a.s.db, row.ID, p, chatID)
	if err != nil {
		return 0, err
	}
	l, messageID := row.Info(p), text.Sanitize(messageID)
	var left int64
	err = a.s.store.InBatch(ctx, func(u *store.Batch) (err error) {
		left, err = outbox.MarkRead(ctx, u, l, addr, messageID, typing && p.Capabilities().Typing)
		return err
	})
	return left, err
}

// ShowTyping shows the contact that an answer is being written, where the reference
// can. What is unread here stays so.
func (a *Account) ShowTyping(ctx context.Context, ref provider.ReferenceID, chatID string) error {
	row, p, err := a.s.store.Opened(ctx, a.s.db, a.id, ref)
	if err != nil || !p.Capabilities().Typing {
		return err
	}
	addr, err := a.s.recipients.Address(ctx, a.s.db, row.ID, p, chatID)
	if err != nil {
		return err
	}
	l := row.Info(p)
	return a.s.store.InBatch(ctx, func(u *store.Batch) error {
		c, err := store.LockChat(ctx, u, l, addr)
		if err != nil {
			return err
		}
		return outbox.ShowTyping(ctx, u, l, c)
	})
}
