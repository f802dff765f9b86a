package store

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// deferredEventRow is an event that waits.
type deferredEventRow struct {
	EventID   string               `db:"event_id"`
	Kind      payload.EventType    `db:"kind"`
	Account   string               `db:"account"`
	Reference provider.ReferenceID `db:"reference"`
	ChatID    string               `db:"chat_id"`
	MessageID string               `db:"message_id"`
	Actor     payload.Actor        `db:"actor"`
	AtUS      int64                `db:"at_us"`
	Payload   string               `db:"payload"`
	Message   int64                `db:"message"`
	UntilUS   int64                `db:"until_us"`
	Parent    string               `db:"traceparent"`

	ID      int64 `db:"id"`
	Waiting bool  `db:"waiting"` // the file is still being fetched
}

// ReleaseDeferred lets the events of a locked chat go, up to the first whose file is
// still worth waiting for.
func ReleaseDeferred(ctx context.Context, u *Batch, c *Chat) error {
	rows, err := deferredEvents(ctx, u, c)
	if err != nil {
		return err
	}
	n, load := 0, []int64{}
	for n < len(rows) && !(rows[n].Waiting && rows[n].UntilUS > database.Micros(u.Now)) {
		if seq := rows[n].Message; seq != 0 && u.Messages[seq] == nil {
			load = append(load, seq)
		}
		n++
	}
	if err := u.Load(ctx, load); err != nil {
		return err
	}
	for _, h := range rows[:n] {
		u.Events = append(u.Events, deferredEvent(u, h, c))
	}
	u.DeferEvents(c, n < len(rows), len(u.Events))
	if n == 0 {
		return nil
	}
	if _, err := u.Tx.ExecContext(ctx, `DELETE FROM messaging_deferred WHERE chat = $1 AND id <= $2`, c.ID, rows[n-1].ID); err != nil {
		return fmt.Errorf("releasing events: %w", err)
	}
	return nil
}

// deferredEvents reads the events of a chat that wait, in their order.
func deferredEvents(ctx context.Context, u *Batch, c *Chat) ([]deferredEventRow, error) {
	var rows []deferredEventRow
	err := u.Tx.SelectContext(ctx, &rows, `SELECT h.id, h.event_id, h.kind, h.account, h.reference, h.chat_id, h.message_id, h.actor, h.at_us,
			h.payload, h.message, h.until_us, h.traceparent, COALESCE(f.waiting, FALSE) AS waiting
		FROM messaging_deferred h LEFT JOIN messaging_media f ON f.message = h.message AND f.message > 0
		WHERE h.chat = $1 ORDER BY h.id`, c.ID)
	if err != nil {
		return nil, fmt.Errorf("reading events that wait: %w", err)
	}
	return rows, nil
}

// deferredEvent is an event as it goes out. One of a message with a file tells what
// has become of that meanwhile.
func deferredEvent(u *Batch, h deferredEventRow, c *Chat) payload.Event {
	ev := payload.Event{
		ID: h.EventID, Type: h.Kind, Account: h.Account, Reference: h.Reference, Key: ChatKey(c.Reference, c.ID),
		ChatID: h.ChatID, MessageID: h.MessageID, Actor: h.Actor, At: database.Time(h.AtUS), Payload: json.RawMessage(h.Payload),
		Traceparent: h.Parent,
	}
	m := u.Messages[h.Message]
	if m == nil {
		return ev
	}
	if h.Waiting {
		SetMissing(m, &payload.Failure{Code: CodeMediaPending, Message: "The file is still being fetched. It will be in the record of the message."})
		u.DirtyMessages.Add(m)
		u.Publish(h.Account, m.Reference, string(payload.EventMessage), m.Record(payload.MustEncode(m.Head(c))))
	}
	var p payload.MessagePayload // as it was when it happened
	_ = json.Unmarshal(ev.Payload, &p)
	ev.Payload = m.Payload(p.Head)
	return ev
}

// ReleaseExpiredDeferred lets the events go that have waited for long enough.
func (s *Store) ReleaseExpiredDeferred(ctx context.Context) error {
	var seqs []int64
	err := s.DB.SelectContext(ctx, &seqs, `SELECT message FROM messaging_deferred WHERE until_us > 0 AND until_us <= $1
		ORDER BY until_us LIMIT 200`, database.Micros(s.Now()))
	if err != nil || len(seqs) == 0 {
		return err
	}
	return s.InBatch(ctx, func(u *Batch) error {
		if err := u.LoadLocked(ctx, seqs); err != nil {
			return err
		}
		return ReleaseDeferredOf(ctx, u, seqs)
	})
}

// ReleaseDeferredOf releases in the chats of messages, which are loaded and locked.
func ReleaseDeferredOf(ctx context.Context, u *Batch, seqs []int64) error {
	var chats Ordered[*Chat]
	for _, seq := range seqs {
		if m := u.Messages[seq]; m != nil && u.Chats[m.Chat].Deferring {
			chats.Add(u.Chats[m.Chat])
		}
	}
	for _, c := range chats.Items {
		if err := ReleaseDeferred(ctx, u, c); err != nil {
			return err
		}
	}
	return nil
}
