package messaging

import (
	"context"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/provider"
)

// UpdateChatTx is [Account.UpdateChat] when tx commits; call
// [Service.Committed] then.
func (a *Account) UpdateChatTx(ctx context.Context, tx *sqlx.Tx, ref provider.ReferenceID, chatID string, change ChatChange) (Chat, error) {
	who, err := a.personIn(ctx, tx, ref, chatID)
	if err != nil {
		return Chat{}, err
	}
	u := a.s.unit(tx)
	c, err := u.updateChat(ctx, who, change)
	if err != nil {
		return Chat{}, err
	}
	return u.chatView(c), u.flush(ctx)
}

// ChatTx is [Account.Chat] within a transaction that writes, until whose end
// the chat is locked: what is decided by it still holds then.
func (a *Account) ChatTx(ctx context.Context, tx *sqlx.Tx, ref provider.ReferenceID, chatID string) (Chat, error) {
	who, err := a.personIn(ctx, tx, ref, chatID)
	if err != nil {
		return Chat{}, err
	}
	u := a.s.unit(tx)
	c, err := u.known(ctx, who.line, who.addr)
	if err != nil {
		return Chat{}, err
	}
	if err := u.load(ctx, []int64{c.LastMessage}); err != nil {
		return Chat{}, err
	}
	return u.chatView(c), nil
}

// personIn names a chat by what tx knows of its line.
func (a *Account) personIn(ctx context.Context, tx *sqlx.Tx, ref provider.ReferenceID, chatID string) (person, error) {
	row, err := a.row(ctx, tx, ref)
	if err != nil {
		return person{}, err
	}
	p, err := a.s.kind(row.Kind)
	if err != nil {
		return person{}, err
	}
	addr, err := address(p, chatID)
	return person{row.line(p), addr}, err
}

// chatView is a chat whose last message is loaded, as users see it.
func (u *unit) chatView(c *chatRow) Chat {
	m := u.messages[c.LastMessage]
	if m == nil {
		return c.view(nil)
	}
	last := m.view(c)
	return c.view(&last)
}
