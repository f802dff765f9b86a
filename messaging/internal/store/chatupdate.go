package store

import (
	"context"
	"maps"
	"slices"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/payload"
)

// chatWork is what a batch remembers of its chats for the sinks.
type chatWork struct {
	before map[int64]Handling
	merged map[int64][]int64 // by the chat that stays
	apart  map[[2]int64]bool // merges that are put off, by the chat that stays and the other
}

// Handling is what decides who answers in a chat.
type Handling struct {
	botActive bool
	handoffUS int64
	taken     bool
	askedUS   int64
}

func (c *Chat) Handling() Handling { return Handling{c.BotActive, c.HandoffUS, c.Taken, c.AskedUS} }

// Handed says that a person has the chat, or is asked for.
func (s Handling) Handed() bool { return s.handoffUS != 0 || s.askedUS != 0 }

// rememberBefore remembers a chat as it is before the batch changes it.
func (w *chatWork) rememberBefore(c *Chat) {
	if w.before == nil {
		w.before = map[int64]Handling{}
	}
	w.before[c.ID] = c.Handling()
}

// publishChats tells the sinks what has become of chats.
func (u *Batch) publishChats(ctx context.Context) error {
	news := u.chatUpdates()
	if len(news) == 0 {
		return nil
	}
	return u.Store.PublishChats(ctx, u.Tx, news)
}

func (u *Batch) chatUpdates() []payload.ChatUpdate {
	var news []payload.ChatUpdate
	for _, id := range slices.Sorted(maps.Keys(u.Chats)) {
		c := u.Chats[id]
		before := u.before[id]
		if before == c.Handling() && len(u.merged[id]) == 0 {
			continue
		}
		n := payload.ChatUpdate{
			Reference: c.Reference, Key: ChatKey(c.Reference, id), ChatID: c.ChatID,
			BotActive: c.BotActive, Handoff: database.Time(c.HandoffUS), WasTaken: before.Handed(),
		}
		for _, gone := range u.merged[id] {
			n.Merged = append(n.Merged, ChatKey(c.Reference, gone))
			n.WasTaken = n.WasTaken || u.before[gone].Handed()
		}
		news = append(news, n)
	}
	return news
}
