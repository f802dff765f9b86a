package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/trunklinehq/trunkline/provider"
)

// mergeStep is how many rows of a chat a transaction moves to another.
const mergeStep = 500

// putOffMerge puts a merge off if gone has more than a transaction may move, and
// says whether it has.
func (u *Batch) putOffMerge(ctx context.Context, keep, gone *Chat) (bool, error) {
	pair := [2]int64{keep.ID, gone.ID}
	if u.apart[pair] {
		return true, nil
	}
	large, err := u.MovesInSteps(ctx, gone.ID)
	if err != nil || !large {
		return false, err
	}
	if u.apart == nil {
		u.apart = map[[2]int64]bool{}
	}
	u.apart[pair] = true
	to, err := u.mergesInto(ctx, keep.ID)
	if err != nil {
		return false, err
	}
	from, err := u.mergesInto(ctx, gone.ID)
	if err != nil || from == to {
		return true, err
	}
	if _, err := u.Tx.ExecContext(ctx, `INSERT INTO messaging_merge (gone, keep) VALUES ($1, $2) ON CONFLICT (gone) DO NOTHING`, from, to); err != nil {
		return false, fmt.Errorf("putting off a merge of chats: %w", err)
	}
	return true, nil
}

// MovesInSteps says whether a chat has more rows than a transaction may move.
func (u *Batch) MovesInSteps(ctx context.Context, chat int64) (bool, error) {
	n := 0
	err := u.Tx.GetContext(ctx, &n, `SELECT count(*) FROM (
		SELECT 1 AS one FROM (SELECT 1 AS one FROM messaging_message WHERE chat = $1 LIMIT $2) AS m
		UNION ALL SELECT 1 AS one FROM (SELECT 1 AS one FROM messaging_call WHERE chat = $1 LIMIT $2) AS c
		UNION ALL SELECT 1 AS one FROM (SELECT 1 AS one FROM messaging_deferred WHERE chat = $1 LIMIT $2) AS h) AS rows`, chat, mergeStep+1)
	if err != nil {
		return false, fmt.Errorf("counting what a chat has: %w", err)
	}
	return n > mergeStep, nil
}

// mergesInto is the chat with which a chat becomes one in the end, by the merges
// that are put off: itself when there is none.
func (u *Batch) mergesInto(ctx context.Context, chat int64) (int64, error) {
	for seen := map[int64]bool{}; !seen[chat]; {
		seen[chat] = true
		err := u.Tx.GetContext(ctx, &chat, `SELECT keep FROM messaging_merge WHERE gone = $1`, chat)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return 0, fmt.Errorf("reading merges of chats: %w", err)
		}
	}
	return chat, nil
}

// MoveSome moves some of the oldest messages of gone to keep, or calls when there
// are none, and says whether it moved any. The unread ones count where they are.
// A message with an event that waits stays, and so do the newest, which gone shows.
func (u *Batch) MoveSome(ctx context.Context, keep, gone *Chat) (bool, error) {
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
		u.mergeWatermarks(keep, &Chat{}) // it looks for what was read among all messages again
	}
	return true, nil
}
