package messaging

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/queue"
)

// ChatSink is a [Sink] that is told who may answer in a chat. ChatsTx must
// only write rows: an error undoes what has changed. The chats are locked, and
// events of the same transaction follow.
type ChatSink interface {
	ChatsTx(ctx context.Context, tx *sqlx.Tx, news []ChatUpdate) error
}

// chatWork is what a batch remembers of its chats for the sinks.
type chatWork struct {
	met    map[int64]share
	merged map[int64][]int64 // by the chat that stays
	apart  map[[2]int64]bool // merges that are put off, by the chat that stays and the other
}

// share is what decides who answers in a chat.
type share struct {
	botActive bool
	handoffUS int64
	taken     bool
	askedUS   int64
}

func (c *chatRow) share() share { return share{c.BotActive, c.HandoffUS, c.Taken, c.AskedUS} }

// handed says that a person has the chat, or is asked for.
func (s share) handed() bool { return s.handoffUS != 0 || s.askedUS != 0 }

// meet remembers a chat as it is before the batch changes it.
func (w *chatWork) meet(c *chatRow) {
	if w.met == nil {
		w.met = map[int64]share{}
	}
	w.met[c.ID] = c.share()
}

// unite has what waits for a chat that has become one with another go out before
// what comes later for that, and remembers it for the sinks.
func (u *batch) unite(ctx context.Context, keep, gone *chatRow) error {
	if u.merged == nil {
		u.merged = map[int64][]int64{}
	}
	u.merged[keep.ID] = append(append(u.merged[keep.ID], gone.ID), u.merged[gone.ID]...)
	delete(u.merged, gone.ID)
	to, from := chatKey(keep.Reference, keep.ID), chatKey(gone.Reference, gone.ID)
	for i := range u.events {
		if u.events[i].Key == from {
			u.events[i].Key = to
		}
	}
	for _, q := range []*queue.Queue{u.s.sends, u.s.files} {
		if err := q.PutTx(ctx, u.tx, queue.JobArgs{Subscriber: subscriber(keep.Reference), Key: to, Merged: from}); err != nil {
			return err
		}
	}
	u.s.queued.Store(true)
	return nil
}

// publishChats tells the sinks what has become of chats.
func (u *batch) publishChats(ctx context.Context) error {
	news := u.chatUpdates()
	if len(news) == 0 {
		return nil
	}
	for _, k := range u.s.opts.Sinks {
		sink, ok := k.(ChatSink)
		if !ok {
			continue
		}
		if err := sink.ChatsTx(ctx, u.tx, news); err != nil {
			return fmt.Errorf("telling %T: %w", k, err)
		}
	}
	return nil
}

func (u *batch) chatUpdates() []ChatUpdate {
	var news []ChatUpdate
	for _, id := range slices.Sorted(maps.Keys(u.chats)) {
		c := u.chats[id]
		before := u.met[id]
		if before == c.share() && len(u.merged[id]) == 0 {
			continue
		}
		n := ChatUpdate{
			Reference: c.Reference, Key: chatKey(c.Reference, id), ChatID: c.ChatID,
			BotActive: c.BotActive, Handoff: database.Time(c.HandoffUS), WasTaken: before.handed(),
		}
		for _, gone := range u.merged[id] {
			n.Merged = append(n.Merged, chatKey(c.Reference, gone))
			n.WasTaken = n.WasTaken || u.met[gone].handed()
		}
		news = append(news, n)
	}
	return news
}
