package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/text"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// MessageKey identifies a message on its reference.
type MessageKey struct {
	Reference provider.ReferenceID `db:"reference"`
	ID        string               `db:"id"`
}

// KeyTypes are the SQL types of [store.KeyRows].
var KeyTypes = []string{"BIGINT", "TEXT"}

// KeyRows are rows of a reference and the id of a message.
func KeyRows(keys []MessageKey) [][]any {
	rows := make([][]any, len(keys))
	for i, k := range keys {
		rows[i] = []any{k.Reference, k.ID}
	}
	return rows
}

const (
	insertMessages = `INSERT INTO messaging_message (reference, chat, id, mine, actor, sent_as, status, body, push_name, biz_name,
		error_code, error_message, error_advice, at_us, created_us, past_us)`
	insertMessagesTail = ` ON CONFLICT (reference, id) DO NOTHING RETURNING reference, id, seq`
)

var messageTypes = []string{
	"BIGINT", "BIGINT", "TEXT", "BOOLEAN", "TEXT", "TEXT", "INTEGER", "TEXT", "TEXT", "TEXT", "TEXT", "TEXT", "TEXT", "BIGINT", "BIGINT",
	"BIGINT",
}

// Add stores messages that are not stored yet and sets their seq. Those that
// are known already keep seq 0.
func (u *Batch) Add(ctx context.Context, ms []*Message) error {
	byKey := map[MessageKey]*Message{}
	var once []*Message
	for _, m := range ms {
		if k := (MessageKey{m.Reference, m.ID}); byKey[k] == nil {
			byKey[k] = m
			once = append(once, m)
		}
	}
	values := make([][]any, len(once))
	for i, m := range once {
		values[i] = []any{
			m.Reference, m.Chat, m.ID, m.Mine, string(m.Actor), m.SentAs, int64(m.Status), m.Body, m.PushName, m.BizName,
			m.ErrorCode, m.ErrorMessage, m.ErrorAdvice, m.AtUS, m.CreatedUS, m.PastUS,
		}
	}
	type stored struct {
		MessageKey
		Seq int64 `db:"seq"`
	}
	rows, err := InsertNew[stored](ctx, u, insertMessages, messageTypes, values, insertMessagesTail)
	if err != nil {
		return fmt.Errorf("storing messages: %w", err)
	}
	for _, r := range rows {
		m := byKey[r.MessageKey]
		m.Seq = r.Seq
		u.Messages[r.Seq], u.Added[r.MessageKey] = m, m
		u.unindexed.Add(m)
	}
	return nil
}

// Located is where a message lies.
type Located struct {
	MessageKey
	Seq   int64  `db:"seq"`
	Chat  int64  `db:"chat"`
	OwnID string `db:"own_id"`
	Past  int64  `db:"past_us"`
}

// shown is the condition that the chat of a message is not being deleted.
const shown = `NOT EXISTS (SELECT 1 FROM messaging_chat g WHERE g.id = m.chat AND g.activity_us < 0)`

// Locate finds messages by the network's id or by ours, without locking. It finds the
// outgoing messages of the batch too.
func (u *Batch) Locate(ctx context.Context, keys []MessageKey) ([]Located, error) {
	if err := u.WriteOutgoing(ctx); err != nil {
		return nil, err
	}
	out, err := database.SelectRows[Located](ctx, u.Store.DB, u.Tx, database.Rows{
		Before: `WITH k (reference, id) AS (`,
		After: `) SELECT m.seq, m.chat, m.reference, m.id, m.past_us, '' AS own_id
			FROM k JOIN messaging_message m ON m.reference = k.reference AND m.id = k.id WHERE ` + shown + `
		UNION SELECT m.seq, m.chat, m.reference, m.id, m.past_us, o.own_id
			FROM k JOIN messaging_outbound o ON o.reference = k.reference AND o.own_id = k.id JOIN messaging_message m ON m.seq = o.message WHERE ` + shown,
		Types: KeyTypes, Values: slices.Concat(KeyRows(keys)...), Set: true,
	})
	if err != nil {
		return nil, fmt.Errorf("finding messages: %w", err)
	}
	return out, nil
}

// Load reads messages whose chats are locked.
func (u *Batch) Load(ctx context.Context, seqs []int64) error {
	rows, err := SelectAmong[*Message](ctx, u, `SELECT `+MessageColumns+MessageFrom+`WHERE`, `m.seq`, NumberTypes, numberRows(seqs), "")
	if err != nil {
		return fmt.Errorf("loading messages: %w", err)
	}
	for _, m := range rows {
		state := m.outbound()
		m.stored = &state
		u.Messages[m.Seq] = m
	}
	return nil
}

// LoadLocked reads messages and locks their chats, whichever those are by the
// time the locks are held. Messages of chats that are being deleted are left out.
func (u *Batch) LoadLocked(ctx context.Context, seqs []int64) error {
	for try := 1; ; try++ {
		for _, seq := range seqs {
			delete(u.Messages, seq) // it may have been deleted since the last try
		}
		if err := u.lockChatsOf(ctx, seqs); err != nil {
			return err
		}
		if err := u.Load(ctx, seqs); err != nil {
			return err
		}
		moved := false
		for _, seq := range seqs {
			m := u.Messages[seq]
			switch {
			case m == nil:
			case u.gone[m.Chat]:
				delete(u.Messages, seq)
			case u.Chats[m.Chat] == nil:
				moved = true
			}
		}
		if !moved {
			return nil
		}
		if try == 5 {
			return ErrMoved
		}
	}
}

var selectChatsOf = `SELECT ` + ChatColumns + `, ` + Nested("id, account, kind", "r", "of") + `
	FROM messaging_chat c JOIN messaging_reference r ON r.id = c.reference
	WHERE c.id IN (SELECT m.chat FROM messaging_message m WHERE`

// lockChatsOf locks the chats of messages, and reads their references.
func (u *Batch) lockChatsOf(ctx context.Context, seqs []int64) error {
	type locked struct {
		Chat
		Of Reference `db:"of"`
	}
	rows, err := SelectAmong[*locked](ctx, u, selectChatsOf, `m.seq`, NumberTypes, numberRows(seqs), `)`+u.forUpdate())
	if err != nil {
		return fmt.Errorf("locking chats: %w", err)
	}
	for _, r := range rows {
		c := &r.Chat
		if c.Deleted() {
			u.gone[c.ID] = true
			continue
		}
		if u.References[c.Reference], err = u.Store.info(&r.Of); err != nil {
			return err
		}
		if u.Chats[c.ID] == nil {
			u.Chats[c.ID] = c
			u.rememberBefore(c)
		}
	}
	return nil
}

// messages writes what has become of messages.
func (u *Batch) messages() database.Rows {
	var rows [][]any
	for _, m := range u.DirtyMessages.Items {
		rows = append(rows, []any{m.Seq, m.ID, int(m.Status), m.ErrorCode, m.ErrorMessage, m.Timeline, m.ErrorAdvice})
	}
	return updating(`UPDATE messaging_message SET id = v.column2, status = v.column3, error_code = v.column4, error_message = v.column5, timeline = v.column6,
		error_advice = v.column7`,
		[]string{"BIGINT", "TEXT", "INTEGER", "TEXT", "TEXT", "TEXT", "TEXT"}, rows, `messaging_message.seq = v.column1`)
}

// writeRewritten writes what of messages hardly ever changes.
func (u *Batch) writeRewritten(ctx context.Context) error {
	var rows [][]any
	for _, m := range u.Rewritten.Items {
		rows = append(rows, []any{m.Seq, m.Body, m.PastUS})
	}
	err := u.update(ctx, `UPDATE messaging_message SET body = v.column2, past_us = v.column3`,
		[]string{"BIGINT", "TEXT", "BIGINT"}, rows, `messaging_message.seq = v.column1`)
	if err != nil {
		return fmt.Errorf("rewriting messages: %w", err)
	}
	return nil
}

// outbound writes what has become of the sends of messages.
func (u *Batch) outbound() database.Rows {
	var rows [][]any
	for _, m := range u.DirtyMessages.Items {
		state := m.outbound()
		if m.OwnID == "" || m.stored != nil && *m.stored == state {
			continue
		}
		m.stored = &state
		rows = append(rows, []any{m.Seq, m.Announced, m.Tried, m.StartedUS, m.GiveUpUS, m.SentUS})
	}
	return updating(`UPDATE messaging_outbound SET announced = v.column2, tried = v.column3, started_us = v.column4, give_up_us = v.column5,
		sent_us = v.column6`,
		[]string{"BIGINT", "BOOLEAN", "BOOLEAN", "BIGINT", "BIGINT", "BIGINT"}, rows, `messaging_outbound.message = v.column1`)
}

// FailureOf is what a network said, without what no database stores.
func FailureOf(f provider.Failure) payload.Failure {
	return payload.Failure{Code: text.Sanitize(f.Code), Message: text.Sanitize(f.Message), Advice: text.Sanitize(f.Advice)}
}

// SetMissing notes why a message has no file; nil: it has. Why it failed is more
// than that.
func SetMissing(m *Message, why *payload.Failure) {
	switch {
	case m.ErrorCode != "" && !m.IsMissingFile():
	case why == nil:
		m.SetFailure(payload.Failure{})
	default:
		m.SetFailure(FailureOf(provider.Failure(*why)))
	}
}

// PresentUS is the beginning of the year 10000. What is imported has a time of
// before, so that a difference from it is below 0.
const PresentUS = 253_402_300_800_000_000

// PastUS is the past_us of imported history from that time. Imported messages
// are listed before all others, by when they were written: they come late, and
// in no order.
func PastUS(atUS int64) int64 { return atUS - PresentUS }

var selectMessage = `SELECT ` + MessageColumns + `, ` + Nested(ChatColumns, "c", "in") + MessageFrom + `
	JOIN messaging_chat c ON c.id = m.chat WHERE m.seq = $1`

// Message reads one message with its chat.
func (s *Store) Message(ctx context.Context, seq int64) (*Message, *Chat, error) {
	var row struct {
		Message
		In Chat `db:"in"`
	}
	err := s.DB.GetContext(ctx, &row, selectMessage, seq)
	if errors.Is(err, sql.ErrNoRows) || err == nil && row.In.Deleted() {
		return nil, nil, payload.ErrNotFound // deleted meanwhile
	}
	if err != nil {
		return nil, nil, fmt.Errorf("reading a message: %w", err)
	}
	return &row.Message, &row.In, nil
}
