package messaging

import (
	"context"
	"errors"
	"fmt"

	"github.com/trunklinehq/trunkline/provider"
)

// messageKey identifies a message on its reference.
type messageKey struct {
	Reference provider.ReferenceID `db:"reference"`
	ID        string               `db:"id"`
}

// keyTypes are the SQL types of [keyRows].
var keyTypes = []string{"BIGINT", "TEXT"}

// keyRows are rows of a reference and the id of a message.
func keyRows(keys []messageKey) [][]any {
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

// add stores messages that are not stored yet and sets their seq. Those that
// are known already keep seq 0.
func (u *batch) add(ctx context.Context, ms []*messageRow) error {
	byKey := map[messageKey]*messageRow{}
	var once []*messageRow
	for _, m := range ms {
		if k := (messageKey{m.Reference, m.ID}); byKey[k] == nil {
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
		messageKey
		Seq int64 `db:"seq"`
	}
	rows, err := insertNew[stored](ctx, u, insertMessages, messageTypes, values, insertMessagesTail)
	if err != nil {
		return fmt.Errorf("storing messages: %w", err)
	}
	for _, r := range rows {
		m := byKey[r.messageKey]
		m.Seq = r.Seq
		u.messages[r.Seq], u.added[r.messageKey] = m, m
	}
	return nil
}

// located is where a message lies.
type located struct {
	messageKey
	Seq   int64  `db:"seq"`
	Chat  int64  `db:"chat"`
	OwnID string `db:"own_id"`
	Past  int64  `db:"past_us"`
}

// shown is the condition that the chat of a message is not being deleted.
const shown = `NOT EXISTS (SELECT 1 FROM messaging_chat g WHERE g.id = m.chat AND g.activity_us < 0)`

// locate finds messages by the network's id or by ours, without locking.
func (u *batch) locate(ctx context.Context, keys []messageKey) ([]located, error) {
	values := keyRows(keys)
	out, err := among[located](ctx, u, `SELECT m.seq, m.chat, m.reference, m.id, m.past_us, '' AS own_id FROM messaging_message m WHERE `+shown+` AND`,
		`(m.reference, m.id)`, keyTypes, values, "")
	if err != nil {
		return nil, fmt.Errorf("finding messages: %w", err)
	}
	own, err := among[located](ctx, u, `SELECT m.seq, m.chat, m.reference, m.id, m.past_us, o.own_id
		FROM messaging_outbound o JOIN messaging_message m ON m.seq = o.message WHERE `+shown+` AND`, `(o.reference, o.own_id)`, keyTypes, values, "")
	if err != nil {
		return nil, fmt.Errorf("finding messages: %w", err)
	}
	return append(out, own...), nil
}

// load reads messages whose chats are locked.
func (u *batch) load(ctx context.Context, seqs []int64) error {
	rows, err := among[*messageRow](ctx, u, `SELECT `+messageColumns+messageFrom+`WHERE`, `m.seq`, numberTypes, numberRows(seqs), "")
	if err != nil {
		return fmt.Errorf("loading messages: %w", err)
	}
	for _, m := range rows {
		u.messages[m.Seq] = m
	}
	return nil
}

// loadLocked reads messages and locks their chats, whichever those are by the
// time the locks are held.
func (u *batch) loadLocked(ctx context.Context, seqs []int64) error {
	for try := 1; ; try++ {
		if err := u.load(ctx, seqs); err != nil {
			return err
		}
		var chats []int64
		for _, seq := range seqs {
			if m := u.messages[seq]; m != nil && u.gone[m.Chat] {
				delete(u.messages, seq)
			} else if m != nil {
				chats = append(chats, m.Chat)
			}
		}
		err := u.lock(ctx, chats)
		if err == nil {
			err = u.reload(ctx, seqs)
		}
		if err == nil {
			return nil
		}
		if !errors.Is(err, errMoved) || try == 5 {
			return err
		}
		for _, seq := range seqs {
			delete(u.messages, seq) // it may have been deleted with its chat
		}
	}
}

// reload reads messages again, now that their chats are locked. If one has moved
// to another chat meanwhile, it is [errMoved].
func (u *batch) reload(ctx context.Context, seqs []int64) error {
	if err := u.load(ctx, seqs); err != nil {
		return err
	}
	for _, seq := range seqs {
		m := u.messages[seq]
		switch {
		case m == nil:
		case u.gone[m.Chat]:
			delete(u.messages, seq)
		case u.chats[m.Chat] == nil:
			return errMoved
		}
	}
	return nil
}

func (u *batch) writeMessages(ctx context.Context) error {
	var rows [][]any
	for _, m := range u.dirtyMessages.items {
		rows = append(rows, []any{m.Seq, m.ID, int(m.Status), m.ErrorCode, m.ErrorMessage, m.Timeline, m.ErrorAdvice})
	}
	err := u.update(ctx, `UPDATE messaging_message SET id = v.column2, status = v.column3, error_code = v.column4, error_message = v.column5, trail = v.column6,
		error_advice = v.column7`,
		[]string{"BIGINT", "TEXT", "INTEGER", "TEXT", "TEXT", "TEXT", "TEXT"}, rows, `messaging_message.seq = v.column1`)
	if err != nil {
		return fmt.Errorf("updating messages: %w", moved(err))
	}
	return nil
}

// writeRewritten writes what of messages hardly ever changes.
func (u *batch) writeRewritten(ctx context.Context) error {
	var rows [][]any
	for _, m := range u.rewritten.items {
		rows = append(rows, []any{m.Seq, m.Body, m.PastUS})
	}
	err := u.update(ctx, `UPDATE messaging_message SET body = v.column2, past_us = v.column3`,
		[]string{"BIGINT", "TEXT", "BIGINT"}, rows, `messaging_message.seq = v.column1`)
	if err != nil {
		return fmt.Errorf("rewriting messages: %w", err)
	}
	return nil
}

func (u *batch) writeOutbound(ctx context.Context) error {
	var rows [][]any
	for _, m := range u.dirtyMessages.items {
		if m.OwnID != "" {
			rows = append(rows, []any{m.Seq, m.Announced, m.Tried, m.StartedUS, m.GiveUpUS, m.SentUS})
		}
	}
	err := u.update(ctx, `UPDATE messaging_outbound SET announced = v.column2, tried = v.column3, started_us = v.column4, give_up_us = v.column5,
		sent_us = v.column6`,
		[]string{"BIGINT", "BOOLEAN", "BOOLEAN", "BIGINT", "BIGINT", "BIGINT"}, rows, `messaging_outbound.message = v.column1`)
	if err != nil {
		return fmt.Errorf("updating what is to be sent: %w", err)
	}
	return nil
}
