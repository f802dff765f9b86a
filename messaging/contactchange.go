package messaging

import (
	"context"

	"github.com/trunklinehq/trunkline/provider"
)

// contactChanged applies what became of a contact. Of a change of identity
// only the report is kept: there is nothing that it changes here.
func (u *batch) contactChanged(ctx context.Context, l referenceInfo, e *provider.ContactChange) error {
	c, at := u.chatOf(person{l, e.Chat}), u.networkTime(e.At)
	news := false
	switch e.What {
	case provider.ContactMoved:
		return u.move(ctx, l, c, e.To, at)
	case provider.ContactSaved:
		news = c.setTitle(e.Name, at)
	case provider.ContactForgotten:
		news = c.setTitle("", at)
	case provider.ContactOptedOut:
		news = c.setOptOut(true, at)
	case provider.ContactOptedIn:
		news = c.setOptOut(false, at)
	}
	return u.chatChanged(ctx, l, c, news)
}

// groupChanged gives a group its subject. Whatever else the report says is
// kept with it.
func (u *batch) groupChanged(ctx context.Context, l referenceInfo, e *provider.GroupChange) error {
	c := u.chatOf(person{l, e.Chat})
	news := e.Subject != "" && c.setTitle(e.Subject, u.networkTime(e.At))
	return u.chatChanged(ctx, l, c, news)
}

// chatChanged writes a chat and shows it, if it is one that is shown.
func (u *batch) chatChanged(ctx context.Context, l referenceInfo, c *chatRow, news bool) error {
	u.dirtyChats.add(c)
	if !news || c.ActivityUS == 0 {
		return nil
	}
	if _, err := u.lastMessageOf(ctx, c); err != nil {
		return err
	}
	u.tellChat(l, c)
	return nil
}

// move lets the chat of a contact follow to a new address: the old ones still
// lead to it. What is at the new one already becomes one with it.
func (u *batch) move(ctx context.Context, l referenceInfo, c *chatRow, to provider.Address, atUS int64) error {
	from := c.ChatID
	if err := u.link(ctx, l, c, to); err != nil {
		return err
	}
	if there := u.chatOf(person{l, to}); there != nil && there != c { // the two are one now, which was said
		c, from = there, there.ChatID
	}
	c.rename(to, atUS)
	u.dirtyChats.add(c)
	if c.ChatID != from {
		u.publish(l.Account, l.ID, "chat", map[string]any{"reference": l.ID, "chatId": c.ChatID, "mergedFrom": from})
	}
	return nil
}
