package messaging

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// deferTimeout is how long the events of a chat wait for a file: at most 20 s, of
// which a second may pass until somebody looks at the clock.
const deferTimeout = 19 * time.Second

// deferredEventRow is an event that waits.
type deferredEventRow struct {
	EventID   string               `db:"event_id"`
	Kind      EventType            `db:"kind"`
	Account   string               `db:"account"`
	Reference provider.ReferenceID `db:"reference"`
	ChatID    string               `db:"chat_id"`
	MessageID string               `db:"message_id"`
	Actor     Actor                `db:"actor"`
	AtUS      int64                `db:"at_us"`
	Payload   string               `db:"payload"`
	Message   int64                `db:"message"`
	UntilUS   int64                `db:"until_us"`
	Parent    string               `db:"traceparent"`

	ID      int64 `db:"id"`
	Waiting bool  `db:"waiting"` // the file is still being fetched
}

// fileWork is what a batch does about files.
type fileWork struct {
	expected       []expectedFile
	awaited        []*messageRow // that are announced while their file is fetched
	deferFrom      map[int64]int // by chat: the first event of this batch that waits; absent: all do
	dirtyDeferring ordered[*chatRow]
}

// deferEvents makes the events of a chat wait from the next on.
func (w *fileWork) deferEvents(c *chatRow, held bool, events int) {
	if w.deferFrom == nil {
		w.deferFrom = map[int64]int{}
	}
	c.Deferring, w.deferFrom[c.ID] = held, events
	w.dirtyDeferring.add(c)
}

// mergeDeferring lets the events of both chats wait together.
func (w *fileWork) mergeDeferring(keep, gone *chatRow) {
	if gone.Deferring && !keep.Deferring {
		keep.Deferring = true
		w.dirtyDeferring.add(keep)
	}
}

// writeDeferred takes from the events of this batch those of chats in which a file
// is waited for, and stores them.
func (u *batch) writeDeferred(ctx context.Context) error {
	held := map[string]*chatRow{}
	for _, c := range u.chats {
		if c.Deferring {
			held[chatKey(c.Reference, c.ID)] = c
		}
	}
	if len(held) == 0 {
		return nil
	}
	files := map[messageKey]int64{}
	for _, x := range u.expected {
		files[messageKey{x.m.Reference, x.m.ID}] = x.m.Seq
	}
	for _, m := range u.awaited {
		files[messageKey{m.Reference, m.ID}] = m.Seq
	}
	var out []Event
	var rows [][]any
	for i, ev := range u.events {
		c := held[ev.Key]
		if c == nil || i < u.deferFrom[c.ID] {
			out = append(out, ev)
			continue
		}
		message, until := int64(0), int64(0)
		if ev.Type == EventMessage {
			message = files[messageKey{ev.Reference, ev.MessageID}]
		}
		if message != 0 {
			until = database.Micros(u.now.Add(deferTimeout))
		}
		rows = append(rows, []any{
			c.ID, ev.ID, string(ev.Type), ev.Account, ev.Reference, ev.ChatID, ev.MessageID, string(ev.Actor), database.Micros(ev.At),
			string(ev.Payload), message, until, ev.Traceparent,
		})
	}
	u.events = out
	err := u.insert(ctx, `INSERT INTO messaging_held (chat, event_id, kind, account, reference, chat_id, message_id, actor, at_us, payload, message, until_us,
			traceparent)`,
		[]string{"BIGINT", "TEXT", "TEXT", "TEXT", "BIGINT", "TEXT", "TEXT", "TEXT", "BIGINT", "TEXT", "BIGINT", "BIGINT", "TEXT"}, rows, "")
	if err != nil {
		return fmt.Errorf("holding events back: %w", err)
	}
	return nil
}

// writeDeferring notes in which chats events wait.
func (u *batch) writeDeferring(ctx context.Context) error {
	var rows [][]any
	for _, c := range u.dirtyDeferring.items {
		if u.chats[c.ID] != nil {
			rows = append(rows, []any{c.ID, c.Deferring})
		}
	}
	err := u.update(ctx, `UPDATE messaging_chat SET held = v.column2`, []string{"BIGINT", "BOOLEAN"}, rows, sameChat)
	if err != nil {
		return fmt.Errorf("noting which chats wait: %w", err)
	}
	return nil
}

// releaseDeferred lets the events of a locked chat go, up to the first whose file is
// still worth waiting for.
func (u *batch) releaseDeferred(ctx context.Context, c *chatRow) error {
	rows, err := u.deferredEvents(ctx, c)
	if err != nil {
		return err
	}
	n, load := 0, []int64{}
	for n < len(rows) && !(rows[n].Waiting && rows[n].UntilUS > database.Micros(u.now)) {
		if seq := rows[n].Message; seq != 0 && u.messages[seq] == nil {
			load = append(load, seq)
		}
		n++
	}
	if err := u.load(ctx, load); err != nil {
		return err
	}
	for _, h := range rows[:n] {
		u.events = append(u.events, u.deferredEvent(h, c))
	}
	u.deferEvents(c, n < len(rows), len(u.events))
	if n == 0 {
		return nil
	}
	if _, err := u.tx.ExecContext(ctx, `DELETE FROM messaging_held WHERE chat = $1 AND id <= $2`, c.ID, rows[n-1].ID); err != nil {
		return fmt.Errorf("releasing events: %w", err)
	}
	return nil
}

// deferredEvents reads the events of a chat that wait, in their order.
func (u *batch) deferredEvents(ctx context.Context, c *chatRow) ([]deferredEventRow, error) {
	var rows []deferredEventRow
	err := u.tx.SelectContext(ctx, &rows, `SELECT h.id, h.event_id, h.kind, h.account, h.reference, h.chat_id, h.message_id, h.actor, h.at_us,
			h.payload, h.message, h.until_us, h.traceparent, COALESCE(f.waiting, FALSE) AS waiting
		FROM messaging_held h LEFT JOIN messaging_media f ON f.message = h.message AND f.message > 0
		WHERE h.chat = $1 ORDER BY h.id`, c.ID)
	if err != nil {
		return nil, fmt.Errorf("reading events that wait: %w", err)
	}
	return rows, nil
}

// deferredEvent is an event as it goes out. One of a message with a file tells what
// has become of that meanwhile.
func (u *batch) deferredEvent(h deferredEventRow, c *chatRow) Event {
	ev := Event{
		ID: h.EventID, Type: h.Kind, Account: h.Account, Reference: h.Reference, Key: chatKey(c.Reference, c.ID),
		ChatID: h.ChatID, MessageID: h.MessageID, Actor: h.Actor, At: database.Time(h.AtUS), Payload: json.RawMessage(h.Payload),
		Traceparent: h.Parent,
	}
	m := u.messages[h.Message]
	if m == nil {
		return ev
	}
	if h.Waiting {
		m.setMissing(&Failure{Code: mediaPending, Message: "The file has not come yet. It will appear in the record of the message."})
		u.dirtyMessages.add(m)
		u.publish(h.Account, m.Reference, string(EventMessage), m.record(payload.MustEncode(m.head(c))))
	}
	var p MessagePayload // as it was when it happened
	_ = json.Unmarshal(ev.Payload, &p)
	ev.Payload = m.payload(p.Head)
	return ev
}

// releaseExpiredDeferred lets the events go that have waited for long enough.
func (s *Service) releaseExpiredDeferred(ctx context.Context) error {
	var seqs []int64
	err := s.db.SelectContext(ctx, &seqs, `SELECT message FROM messaging_held WHERE until_us > 0 AND until_us <= $1
		ORDER BY until_us LIMIT 200`, database.Micros(s.now()))
	if err != nil || len(seqs) == 0 {
		return err
	}
	return s.inBatch(ctx, func(u *batch) error {
		if err := u.loadLocked(ctx, seqs); err != nil {
			return err
		}
		return u.releaseDeferredOf(ctx, seqs)
	})
}

// releaseDeferredOf releases in the chats of messages, which are loaded and locked.
func (u *batch) releaseDeferredOf(ctx context.Context, seqs []int64) error {
	var chats ordered[*chatRow]
	for _, seq := range seqs {
		if m := u.messages[seq]; m != nil && u.chats[m.Chat].Deferring {
			chats.add(u.chats[m.Chat])
		}
	}
	for _, c := range chats.items {
		if err := u.releaseDeferred(ctx, c); err != nil {
			return err
		}
	}
	return nil
}
