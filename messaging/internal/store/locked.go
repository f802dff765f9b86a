package store

import (
	"context"
	"fmt"

	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// LockKeys locks the chats that keys name, and reads their references. Chats that have
// become one with others, or are being deleted, are left out.
func LockKeys(ctx context.Context, u *Batch, keys []string) error {
	var ids []int64
	for _, key := range keys {
		if _, id, valid := ParseChatKey(key); valid && u.Chats[id] == nil {
			ids = append(ids, id)
		}
	}
	type locked struct {
		Chat
		Of Reference `db:"of"`
	}
	rows, err := SelectAmong[*locked](ctx, u, selectChatsByID, `c.id`, NumberTypes, numberRows(ids), u.forUpdate())
	if err != nil {
		return fmt.Errorf("locking chats: %w", err)
	}
	for _, r := range rows {
		c := &r.Chat
		if c.Deleted() || r.Of.Deleted() {
			continue
		}
		u.Chats[c.ID], u.Rows[c.Reference] = c, &r.Of
		u.rememberBefore(c)
	}
	return nil
}

var selectChatsByID = `SELECT ` + ChatColumns + `, ` + Nested(ReferenceColumns, "r", "of") + `
	FROM messaging_chat c JOIN messaging_reference r ON r.id = c.reference WHERE`

// LockedByKey returns the chat of an account that [LockKeys] has locked by a key, or
// nil.
func LockedByKey(u *Batch, account, key string) *Chat {
	ref, id, valid := ParseChatKey(key)
	c, row := u.Chats[id], u.Rows[ref]
	if !valid || c == nil || row == nil || c.Reference != ref || row.Account != account {
		return nil
	}
	return c
}

// LockedByID returns the chat with a chat id that [LockKeys] has locked, or nil.
func LockedByID(u *Batch, ref provider.ReferenceID, chatID string) *Chat {
	if u.Rows[ref] == nil {
		return nil
	}
	for _, c := range u.Chats {
		if c.Reference == ref && c.ChatID == chatID {
			return c
		}
	}
	return nil
}

// ReferenceIn returns a reference of an account and its provider. A batch reads it
// once.
func ReferenceIn(ctx context.Context, u *Batch, account string, id provider.ReferenceID) (*Reference, provider.Provider, error) {
	row := u.Rows[id]
	if row == nil {
		var err error
		if row, err = ReferenceOf(ctx, u.Tx, account, id); err != nil {
			return nil, nil, err
		}
		u.Rows[id] = row
	}
	if row.Account != account {
		return nil, nil, payload.ErrNotFound
	}
	p, err := u.Store.Provider(row.Kind)
	return row, p, err
}
