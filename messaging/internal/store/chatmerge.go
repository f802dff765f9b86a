package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/trunklinehq/trunkline/provider"
)

// addAlias records that id leads to c.
func (u *Batch) addAlias(c *Chat, id TypedID) {
	key := ChatName{c.Reference, id}
	if u.Aliases[key] != c.ID {
		u.Aliases[key] = c.ID
		u.newAliases = append(u.newAliases, key)
	}
}

// Link makes every name of addr lead to the locked chat c, as well.
func (u *Batch) Link(ctx context.Context, l ReferenceInfo, c *Chat, addr provider.Address) error {
	known := c.IDs()
	if !slices.ContainsFunc(IDs(addr), func(id TypedID) bool { return !slices.Contains(known, id) }) {
		return nil
	}
	p := Person{l, addr}
	if err := u.FindAliases(ctx, []Person{p}); err != nil {
		return err
	}
	var chats []int64
	for _, id := range IDs(addr) {
		if chat, ok := u.Aliases[ChatName{l.ID, id}]; ok {
			chats = append(chats, chat)
		}
	}
	if err := u.Lock(ctx, chats); err != nil {
		return err
	}
	if u.ChatOf(p) == nil {
		u.addAlias(c, IDs(addr)[0])
	}
	if o := u.ChatOf(p); o != c {
		if err := u.merge(ctx, l.Account, o, c); err != nil {
			return err
		}
	}
	return u.join(ctx, p)
}

// join makes every name of p lead to one chat, merging those that were two.
// While a merge is put off, the names lead to both, and each chat stays as it is.
func (u *Batch) join(ctx context.Context, p Person) error {
	keep := u.ChatOf(p) // its own name comes first
	apart := false
	for _, id := range IDs(p.Address) {
		key := ChatName{p.Reference.ID, id}
		if chat, ok := u.Aliases[key]; ok && chat != keep.ID {
			if err := u.merge(ctx, p.Reference.Account, keep, u.Chats[chat]); err != nil {
				return err
			}
			if u.Aliases[key] != keep.ID {
				apart = true
				continue
			}
		}
		u.addAlias(keep, id)
	}
	if apart {
		return nil
	}
	before := *keep
	keep.learn(p.Address)
	if *keep != before {
		u.DirtyChats.Add(keep)
	}
	return nil
}

// merge makes two chats one. If gone has much, that is put off: its messages
// move first, a step at a time.
func (u *Batch) merge(ctx context.Context, account string, keep, gone *Chat) error {
	putOff, err := u.putOffMerge(ctx, keep, gone)
	if err != nil || putOff {
		return err
	}
	return u.MergeRest(ctx, account, keep, gone)
}

// MergeRest moves everything that gone still has to keep.
func (u *Batch) MergeRest(ctx context.Context, account string, keep, gone *Chat) error {
	for _, q := range []string{
		`UPDATE messaging_message SET chat = $1 WHERE chat = $2`,
		`UPDATE messaging_alias SET chat = $1 WHERE chat = $2`,
		`UPDATE messaging_deferred SET chat = $1 WHERE chat = $2`,
		`UPDATE messaging_call SET chat = $1 WHERE chat = $2`,
		`UPDATE messaging_merge SET keep = $1 WHERE keep = $2`,
	} {
		if _, err := u.Tx.ExecContext(ctx, q, keep.ID, gone.ID); err != nil {
			return fmt.Errorf("merging chats: %w", err)
		}
	}
	for _, q := range []string{`DELETE FROM messaging_merge WHERE gone = $1 OR gone = keep`, `DELETE FROM messaging_chat WHERE id = $1`} {
		if _, err := u.Tx.ExecContext(ctx, q, gone.ID); err != nil {
			return fmt.Errorf("merging chats: %w", err)
		}
	}
	for key, id := range u.Aliases {
		if id == gone.ID {
			u.Aliases[key] = keep.ID
		}
	}
	for _, m := range u.Messages {
		if m.Chat == gone.ID {
			m.Chat = keep.ID
		}
	}
	for _, call := range u.Calls {
		if call.Chat == gone.ID {
			call.Chat = keep.ID
		}
	}
	from, was := gone.ChatID, keep.ChatID
	u.mergeChoices(keep, gone)
	u.mergeWatermarks(keep, gone)
	if keep.mergeFrom(gone); keep.ChatID == from {
		from = was
	}
	u.mergeDeferring(keep, gone)
	delete(u.Chats, gone.ID)
	if err := u.queueMerge(ctx, keep, gone); err != nil {
		return err
	}
	u.DirtyChats.Add(keep)
	u.Publish(account, keep.Reference, "chat", map[string]any{"reference": keep.Reference, "chatId": keep.ChatID, "mergedFrom": from})
	return nil
}

// mergeFrom takes over what the other chat knew; of two values the newer wins.
func (c *Chat) mergeFrom(o *Chat) {
	newer, older := c, o
	if o.UpdatedUS > c.UpdatedUS {
		newer, older = o, c
	}
	c.Variables = MergeObjects(older.Variables, newer.Variables)
	c.Fields = MergeObjects(older.Fields, newer.Fields)
	c.Label, c.Language = cmp.Or(newer.Label, older.Label), cmp.Or(newer.Language, older.Language)
	c.Tags = mergeTags(c.Tags, o.Tags)
	// What keeps quiet in one of them keeps quiet in both.
	c.BotActive = c.BotActive && o.BotActive
	c.mergeOptOut(o)
	c.mergeHandoff(o)
	c.mergeNames(o)
	c.Phone, c.LID = cmp.Or(c.Phone, o.Phone), cmp.Or(c.LID, o.LID)
	c.UserID, c.PSID = cmp.Or(c.UserID, o.UserID), cmp.Or(c.PSID, o.PSID)
	c.Unread += o.Unread
	c.LastMessage = max(c.LastMessage, o.LastMessage)
	c.ActivityUS, c.WindowUS = max(c.ActivityUS, o.ActivityUS), max(c.WindowUS, o.WindowUS)
	c.CreatedUS = min(c.CreatedUS, o.CreatedUS)
}

// mergeOptOut takes over whether the contact wants to be written to: the newer
// word counts.
func (c *Chat) mergeOptOut(o *Chat) {
	if o.OptedUS == c.OptedUS {
		c.OptedOut = c.OptedOut || o.OptedOut
	} else if o.OptedUS > c.OptedUS {
		c.OptedOut = o.OptedOut
	}
	c.OptedUS = max(c.OptedUS, o.OptedUS)
}

// mergeNames takes over the names of the other chat that are newer.
func (c *Chat) mergeNames(o *Chat) {
	if o.TitleUS > c.TitleUS {
		c.Title, c.TitleUS = o.Title, o.TitleUS
	}
	c.SetName(provider.Contact{Name: o.Name, VerifiedBizName: o.BizName, Username: o.Username}, o.NameUS)
	switch {
	case o.MovedUS > c.MovedUS:
		c.Rename(o.Address(), o.MovedUS)
	case c.Phone == "" && o.Phone != "":
		c.ChatID, c.Phone = o.ChatID, o.Phone
	}
}
