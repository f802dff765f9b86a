package store

import (
	"context"
	"fmt"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/payload"
)

// deferTimeout is how long the events of a chat wait for a file: at most 20 s, of
// which a second may pass until the clock is looked at.
const deferTimeout = 19 * time.Second

// fileWork is what a batch does about files.
type fileWork struct {
	Expected       []ExpectedFile
	Awaited        []*Message    // that are announced while their file is fetched
	deferFrom      map[int64]int // by chat: the first event of this batch that waits; absent: all do
	dirtyDeferring Ordered[*Chat]
}

// DeferEvents makes the events of a chat wait from the next on.
func (w *fileWork) DeferEvents(c *Chat, deferred bool, events int) {
	if w.deferFrom == nil {
		w.deferFrom = map[int64]int{}
	}
	c.Deferring, w.deferFrom[c.ID] = deferred, events
	w.dirtyDeferring.Add(c)
}

// mergeDeferring lets the events of both chats wait together.
func (w *fileWork) mergeDeferring(keep, gone *Chat) {
	if gone.Deferring && !keep.Deferring {
		keep.Deferring = true
		w.dirtyDeferring.Add(keep)
	}
}

// writeDeferred takes from the events of this batch those of chats in which a file
// is waited for, and stores them.
func (u *Batch) writeDeferred(ctx context.Context) error {
	deferred := map[string]*Chat{}
	for _, c := range u.Chats {
		if c.Deferring {
			deferred[ChatKey(c.Reference, c.ID)] = c
		}
	}
	if len(deferred) == 0 {
		return nil
	}
	files := map[MessageKey]int64{}
	for _, x := range u.Expected {
		files[MessageKey{x.Message.Reference, x.Message.ID}] = x.Message.Seq
	}
	for _, m := range u.Awaited {
		files[MessageKey{m.Reference, m.ID}] = m.Seq
	}
	var out []payload.Event
	var rows [][]any
	for i, ev := range u.Events {
		c := deferred[ev.Key]
		if c == nil || i < u.deferFrom[c.ID] {
			out = append(out, ev)
			continue
		}
		message, until := int64(0), int64(0)
		if ev.Type == payload.EventMessage {
			message = files[MessageKey{ev.Reference, ev.MessageID}]
		}
		if message != 0 {
			until = database.Micros(u.Now.Add(deferTimeout))
		}
		rows = append(rows, []any{
			c.ID, ev.ID, string(ev.Type), ev.Account, ev.Reference, ev.ChatID, ev.MessageID, string(ev.Actor), database.Micros(ev.At),
			string(ev.Payload), message, until, ev.Traceparent,
		})
	}
	u.Events = out
	err := u.Insert(ctx, `INSERT INTO messaging_deferred (chat, event_id, kind, account, reference, chat_id, message_id, actor, at_us, payload, message, until_us,
			traceparent)`,
		[]string{"BIGINT", "TEXT", "TEXT", "TEXT", "BIGINT", "TEXT", "TEXT", "TEXT", "BIGINT", "TEXT", "BIGINT", "BIGINT", "TEXT"}, rows, "")
	if err != nil {
		return fmt.Errorf("holding events back: %w", err)
	}
	return nil
}

// writeDeferring notes in which chats events wait.
func (u *Batch) writeDeferring(ctx context.Context) error {
	var rows [][]any
	for _, c := range u.dirtyDeferring.Items {
		if u.Chats[c.ID] != nil {
			rows = append(rows, []any{c.ID, c.Deferring})
		}
	}
	err := u.update(ctx, `UPDATE messaging_chat SET deferring = v.column2`, []string{"BIGINT", "BOOLEAN"}, rows, sameChat)
	if err != nil {
		return fmt.Errorf("noting which chats wait: %w", err)
	}
	return nil
}
