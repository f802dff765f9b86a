package ingest

import (
	"context"

	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

// contactChanged applies what became of a contact. Of a change of identity
// only the report is kept: there is nothing that it changes here.
func contactChanged(ctx context.Context, u *store.Batch, l store.ReferenceInfo, e *provider.ContactChange) error {
	c, at := u.ChatOf(store.Person{Reference: l, Address: e.Chat}), store.NetworkTime(u, e.At)
	news := false
	switch e.What {
	case provider.ContactMoved:
		return move(ctx, u, l, c, e.To, at)
	case provider.ContactSaved:
		news = SetTitle(c, e.Name, at)
	case provider.ContactForgotten:
		news = SetTitle(c, "", at)
	case provider.ContactOptedOut:
		news = setOptOut(c, true, at)
	case provider.ContactOptedIn:
		news = setOptOut(c, false, at)
	}
	return ChatChanged(ctx, u, l, c, news)
}

// groupChanged gives a group its subject. Whatever else the report says is
// kept with it.
func groupChanged(ctx context.Context, u *store.Batch, l store.ReferenceInfo, e *provider.GroupChange) error {
	c := u.ChatOf(store.Person{Reference: l, Address: e.Chat})
	news := e.Subject != "" && SetTitle(c, e.Subject, store.NetworkTime(u, e.At))
	return ChatChanged(ctx, u, l, c, news)
}

// ChatChanged writes a chat and shows it, if it is one that is shown.
func ChatChanged(ctx context.Context, u *store.Batch, l store.ReferenceInfo, c *store.Chat, news bool) error {
	u.DirtyChats.Add(c)
	if !news || c.ActivityUS == 0 {
		return nil
	}
	if _, err := lastMessageOf(ctx, u, c); err != nil {
		return err
	}
	store.PublishChat(u, l, c)
	return nil
}

// move lets the chat of a contact follow to a new address: the old ones still
// lead to it. What is at the new one already becomes one with it.
func move(ctx context.Context, u *store.Batch, l store.ReferenceInfo, c *store.Chat, to provider.Address, atUS int64) error {
	from := c.ChatID
	if err := u.Link(ctx, l, c, to); err != nil {
		return err
	}
	if there := u.ChatOf(store.Person{Reference: l, Address: to}); there != nil && there != c { // the two are one now, which was said
		c, from = there, there.ChatID
	}
	c.Rename(to, atUS)
	u.DirtyChats.Add(c)
	if c.ChatID != from {
		u.Publish(l.Account, l.ID, "chat", map[string]any{"reference": l.ID, "chatId": c.ChatID, "mergedFrom": from})
	}
	return nil
}

// SetTitle gives a group its subject, or a contact the name that it has in the
// account's phone book, and reports whether that is news.
func SetTitle(c *store.Chat, title string, atUS int64) bool {
	if atUS < c.TitleUS {
		return false
	}
	news := title != c.Title
	c.Title, c.TitleUS = title, atUS
	return news
}

// setOptOut notes whether the contact wants to be written to, and reports whether
// that is news.
func setOptOut(c *store.Chat, out bool, atUS int64) bool {
	if atUS < c.OptedUS {
		return false
	}
	news := out != c.OptedOut
	c.OptedOut, c.OptedUS = out, atUS
	return news
}
