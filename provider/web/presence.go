package web

import (
	"context"
	"errors"
	"log/slog"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/types"

	"github.com/trunklinehq/trunkline/provider"
)

// presence shows contacts what the account does: that it is online, types, or
// has read a message.
type presence struct {
	conn    *connection
	senders *senders
}

// MarkRead shows the contact that a message was read.
func (ps *presence) MarkRead(ctx context.Context, chat provider.Address, id string) error {
	return ps.markRead(ctx, chat, id, nil)
}

// MarkReadAbout does the same and also works in a group, where the network needs
// to know who sent the message.
func (ps *presence) MarkReadAbout(ctx context.Context, chat provider.Address, id string, about provider.About) error {
	return ps.markRead(ctx, chat, id, &about)
}

func (ps *presence) markRead(ctx context.Context, chat provider.Address, id string, about *provider.About) error {
	c, err := ps.conn.connected(ctx)
	if err != nil {
		return err
	}
	to := jid(chat)
	sender, err := ps.senders.sender(ctx, c, to, id, about)
	if err != nil || sender.IsEmpty() {
		return err // nil: the sender of a message in a group is not known any more
	}
	if err := c.MarkRead(ctx, []types.MessageID{id}, ps.conn.now(), to, sender); err != nil {
		return &provider.Temporary{Err: errors.New(redacted(err))}
	}
	return nil
}

// Typing shows the contact that the account is typing.
func (ps *presence) Typing(ctx context.Context, chat provider.Address, _ string) error {
	c, err := ps.conn.connected(ctx)
	if err != nil {
		return err
	}
	if err := c.SendChatPresence(ctx, jid(chat), types.ChatPresenceComposing, types.ChatPresenceMediaText); err != nil {
		return &provider.Temporary{Err: errors.New(redacted(err))}
	}
	return nil
}

// show shows the account as online or offline, as the reference is configured.
func (ps *presence) show(c *whatsmeow.Client) {
	presence := types.PresenceUnavailable
	if ps.conn.ref.Settings[settingOnline] == "true" {
		presence = types.PresenceAvailable
	}
	if c.Store.PushName == "" {
		return
	}
	if err := c.SendPresence(ps.conn.ctx, presence); err != nil {
		ps.conn.log.Debug("showing the account's presence", slog.Any("error", err))
	}
}
