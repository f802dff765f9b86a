package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/provider"
)

// mergeStep is how many rows of a chat a transaction moves to another.
const mergeStep = 500

// putOff puts the merge off when gone has more rows than a transaction may
// move. It reports whether it has.
func (m *chatMerge) putOff(ctx context.Context) (bool, error) {
	u, pair := m.u, [2]int64{m.keep.ID, m.gone.ID}
	if u.apart[pair] {
		return true, nil
	}
	large, err := m.isLarge(ctx)
	if err != nil || !large {
		return false, err
	}
	if u.apart == nil {
		u.apart = map[[2]int64]bool{}
	}
	u.apart[pair] = true
	to, err := mergesInto(ctx, u.Tx, m.keep.ID)
	if err != nil {
		return false, err
	}
	from, err := mergesInto(ctx, u.Tx, m.gone.ID)
	if err != nil || from == to {
		return true, err
	}
	if _, err := u.Tx.ExecContext(ctx, `INSERT INTO messaging_merge (gone, keep) VALUES ($1, $2) ON CONFLICT (gone) DO NOTHING`, from, to); err != nil {
		return false, fmt.Errorf("putting off a merge of chats: %w", err)
	}
	return true, nil
}

// isLarge reports whether gone has more rows than a transaction may move.
func (m *chatMerge) isLarge(ctx context.Context) (bool, error) {
	n := 0
	err := m.u.Tx.GetContext(ctx, &n, `SELECT count(*) FROM (
		SELECT 1 AS one FROM (SELECT 1 AS one FROM messaging_message WHERE chat = $1 LIMIT $2) AS m
		UNION ALL SELECT 1 AS one FROM (SELECT 1 AS one FROM messaging_call WHERE chat = $1 LIMIT $2) AS c
		UNION ALL SELECT 1 AS one FROM (SELECT 1 AS one FROM messaging_deferred WHERE chat = $1 LIMIT $2) AS h) AS rows`, m.gone.ID, mergeStep+1)
	if err != nil {
		return false, fmt.Errorf("counting what a chat has: %w", err)
	}
	return n > mergeStep, nil
}

// mergesInto follows the merges that are put off from a chat to the one that
// stays in the end. A chat without such a merge is its own result.
func mergesInto(ctx context.Context, q database.Reader, chat int64) (int64, error) {
	for seen := map[int64]bool{}; !seen[chat]; {
		seen[chat] = true
		err := q.GetContext(ctx, &chat, `SELECT keep FROM messaging_merge WHERE gone = $1`, chat)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return 0, fmt.Errorf("reading merges of chats: %w", err)
		}
	}
	return chat, nil
}

// moveSome moves some of the oldest messages of gone to keep, or calls when
// there are no messages. It reports whether it moved any. Unread messages count
// in the chat that they are in. A message with a deferred event stays, and so do
// the newest ones, which gone shows.
func (m *chatMerge) moveSome(ctx context.Context) (bool, error) {
	u, keep, gone := m.u, m.keep, m.gone
	var rows []struct {
		Seq    int64 `db:"seq"`
		Unread bool  `db:"unread"`
	}
	err := u.Tx.SelectContext(ctx, &rows, `SELECT seq, NOT mine AND past_us = 0 AND status < $1 AS unread FROM messaging_message
		WHERE chat = $2 AND seq NOT IN (SELECT message FROM messaging_deferred WHERE chat = $2) ORDER BY past_us, seq LIMIT $3`,
		int(provider.StatusRead), gone.ID, mergeStep)
	if err != nil {
		return false, fmt.Errorf("reading what is to be moved: %w", err)
	}
	seqs, unread := make([]int64, len(rows)), int64(0)
	for i, r := range rows {
		seqs[i] = r.Seq
		if r.Unread && unread < gone.Unread {
			unread++
		}
	}
	if len(seqs) == 0 {
		res, err := u.Tx.ExecContext(ctx, `UPDATE messaging_call SET chat = $1 WHERE id IN (SELECT id FROM messaging_call WHERE chat = $2 ORDER BY id LIMIT $3)`,
			keep.ID, gone.ID, mergeStep)
		if err != nil {
			return false, fmt.Errorf("moving calls: %w", err)
		}
		n, err := res.RowsAffected()
		return n > 0, err
	}
	in, args := u.Store.DB.Dialect.InNumbers("seq", 2, seqs)
	if _, err := u.Tx.ExecContext(ctx, `UPDATE messaging_message SET chat = $1 WHERE `+in, append([]any{keep.ID}, args...)...); err != nil {
		return false, fmt.Errorf("moving messages: %w", err)
	}
	for chat, n := range map[int64]int64{keep.ID: unread, gone.ID: -unread} {
		if unread == 0 {
			break
		}
		if _, err := u.Tx.ExecContext(ctx, `UPDATE messaging_chat SET unread = unread + $1 WHERE id = $2`, n, chat); err != nil {
			return false, fmt.Errorf("moving messages: %w", err)
		}
	}
	if keep.Marks != "" {
		u.Watermarks.merge(keep, &Chat{}) // without positions: all messages are searched for read ones again
	}
	return true, nil
}
