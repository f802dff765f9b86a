package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/trunklinehq/trunkline/internal/queue"
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
		if err := mergeOf(u, o, c).run(ctx, l.Account); err != nil {
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
			if err := mergeOf(u, keep, u.Chats[chat]).run(ctx, p.Reference.Account); err != nil {
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

// chatMerge makes two locked chats of a batch one: keep, to which everything
// of gone moves.
type chatMerge struct {
	u          *Batch
	keep, gone *Chat
}

func mergeOf(u *Batch, keep, gone *Chat) *chatMerge { return &chatMerge{u, keep, gone} }

// run merges the chats now, or puts the merge off when gone has more rows than
// one transaction may move.
func (m *chatMerge) run(ctx context.Context, account string) error {
	putOff, err := m.putOff(ctx)
	if err != nil || putOff {
		return err
	}
	return m.finish(ctx, account)
}

// finish moves everything that gone still has to keep, and deletes gone.
func (m *chatMerge) finish(ctx context.Context, account string) error {
	u, keep, gone := m.u, m.keep, m.gone
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
	for _, message := range u.Messages {
		if message.Chat == gone.ID {
			message.Chat = keep.ID
		}
	}
	for _, call := range u.Calls {
		if call.Chat == gone.ID {
			call.Chat = keep.ID
		}
	}
	from, was := gone.ChatID, keep.ChatID
	u.Questions.merge(keep, gone)
	u.Watermarks.merge(keep, gone)
	if keep.mergeFrom(gone); keep.ChatID == from {
		from = was
	}
	u.mergeDeferring(keep, gone)
	delete(u.Chats, gone.ID)
	if err := m.moveJobs(ctx); err != nil {
		return err
	}
	u.DirtyChats.Add(keep)
	u.Publish(account, keep.Reference, "chat", map[string]any{"reference": keep.Reference, "chatId": keep.ChatID, "mergedFrom": from})
	return nil
}

// moveJobs makes the events and jobs of gone those of keep. What waits for gone
// goes out before what comes later for keep. The sinks learn of the merge.
func (m *chatMerge) moveJobs(ctx context.Context) error {
	u, keep, gone := m.u, m.keep, m.gone
	if u.merged == nil {
		u.merged = map[int64][]int64{}
	}
	u.merged[keep.ID] = append(append(u.merged[keep.ID], gone.ID), u.merged[gone.ID]...)
	delete(u.merged, gone.ID)
	to, from := ChatKey(keep.Reference, keep.ID), ChatKey(gone.Reference, gone.ID)
	for i := range u.Events {
		if u.Events[i].Key == from {
			u.Events[i].Key = to
		}
	}
	for _, q := range []*queue.Queue{u.Store.Sends, u.Store.Files, u.Store.Inbound} {
		if err := q.PutTx(ctx, u.Tx, queue.JobArgs{Subscriber: Subscriber(keep.Reference), Key: to, Merged: from}); err != nil {
			return err
		}
	}
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
