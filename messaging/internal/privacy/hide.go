package privacy

import (
	"context"
	"errors"
	"fmt"

	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// HoldsAnything looks through the tables, before the transaction, when an
// address has no chat.
func (s *Records) HoldsAnything(ctx context.Context, l store.ReferenceInfo, addr provider.Address) error {
	_, err := s.Store.ChatByAddress(ctx, s.Store.DB, l.ID, addr)
	if !errors.Is(err, payload.ErrNotFound) {
		return err
	}
	f, err := s.Search(ctx, s.Store.DB, l, addr, nil)
	if err == nil && f.Empty() {
		err = payload.ErrNotFound
	}
	return err
}

// Hide takes its names from a chat, so that it is not found under any.
func (s *Records) Hide(ctx context.Context, u *store.Batch, l store.ReferenceInfo, addr provider.Address) (payload.Erasure, error) {
	c, err := store.LockChat(ctx, u, l, addr)
	if err != nil && !errors.Is(err, payload.ErrNotFound) {
		return payload.Erasure{}, err
	}
	f, err := s.newData(ctx, u.Tx, l, addr, c)
	if err != nil {
		return payload.Erasure{}, err
	}
	e := payload.Erasure{Reference: l.ID, At: u.Now, Subject: payload.MustEncode(f.view())}
	u.Publish(l.Account, l.ID, "resync", map[string]any{"reference": l.ID})
	if c == nil {
		return e, nil
	}
	for _, q := range []string{
		`DELETE FROM messaging_alias WHERE chat = $1`,
		`DELETE FROM messaging_typing WHERE chat = $1`,
		`DELETE FROM messaging_merge WHERE gone = $1 OR keep = $1`,
		`UPDATE messaging_chat SET chat_id = 'deleted:' || id, phone = '', user_id = '', psid = '', lid = '', label = '', title = '', name = '',
			biz_name = '', username = '', variables = '{}', tags = '[]', fields = '{}', language = '', choices = '', watermarks = '', asked = '',
			active_bot = '', unread = 0, last_message = 0, deferring = FALSE, activity_us = -1, activity_slot = -1 WHERE id = $1`,
	} {
		if _, err := u.Tx.ExecContext(ctx, q, c.ID); err != nil {
			return e, fmt.Errorf("hiding a chat: %w", err)
		}
	}
	delete(u.Chats, c.ID)
	return e, nil
}
