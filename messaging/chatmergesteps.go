package messaging

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/trunklinehq/trunkline/provider"
)

const (
	mergeStep  = 500 // rows of a chat that a transaction moves to another
	mergeSteps = 20  // in which the service goes on with merges every second
)

// pendingMerge is a merge of two chats that is put off. Each of them goes on
// with its names and with what comes under those, while the messages of one of
// them move to the other, the oldest first.
type pendingMerge struct {
	Gone    int64  `db:"gone"`
	Keep    int64  `db:"keep"`
	Account string `db:"account"`
}

// putOffMerge puts a merge off if gone has more than a transaction may move, and
// says whether it has.
func (u *batch) putOffMerge(ctx context.Context, keep, gone *chatRow) (bool, error) {
	pair := [2]int64{keep.ID, gone.ID}
	if u.apart[pair] {
		return true, nil
	}
	large, err := u.movesInSteps(ctx, gone.ID)
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
	if _, err := u.tx.ExecContext(ctx, `INSERT INTO messaging_merge (gone, keep) VALUES ($1, $2) ON CONFLICT (gone) DO NOTHING`, from, to); err != nil {
		return false, fmt.Errorf("putting off a merge of chats: %w", err)
	}
	return true, nil
}

// movesInSteps says whether a chat has more rows than a transaction may move.
func (u *batch) movesInSteps(ctx context.Context, chat int64) (bool, error) {
	n := 0
	err := u.tx.GetContext(ctx, &n, `SELECT count(*) FROM (
		SELECT 1 AS one FROM (SELECT 1 AS one FROM messaging_message WHERE chat = $1 LIMIT $2) AS m
		UNION ALL SELECT 1 AS one FROM (SELECT 1 AS one FROM messaging_call WHERE chat = $1 LIMIT $2) AS c
		UNION ALL SELECT 1 AS one FROM (SELECT 1 AS one FROM messaging_held WHERE chat = $1 LIMIT $2) AS h) AS rows`, chat, mergeStep+1)
	if err != nil {
		return false, fmt.Errorf("counting what a chat has: %w", err)
	}
	return n > mergeStep, nil
}

// mergesInto is the chat with which a chat becomes one in the end, by the merges
// that are put off: itself when there is none.
func (u *batch) mergesInto(ctx context.Context, chat int64) (int64, error) {
	for seen := map[int64]bool{}; !seen[chat]; {
		seen[chat] = true
		err := u.tx.GetContext(ctx, &chat, `SELECT keep FROM messaging_merge WHERE gone = $1`, chat)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return 0, fmt.Errorf("reading merges of chats: %w", err)
		}
	}
	return chat, nil
}

const pendingMerges = `SELECT m.gone, m.keep, r.account FROM messaging_merge m
	JOIN messaging_chat c ON c.id = m.gone JOIN messaging_reference r ON r.id = c.reference `

// mergeChats goes on with the merges that are put off. What waits for files is
// left for the next time.
func (s *Service) mergeChats(ctx context.Context) error {
	var all []pendingMerge
	if err := s.db.SelectContext(ctx, &all, pendingMerges+`ORDER BY m.gone LIMIT $1`, mergeSteps); err != nil {
		return fmt.Errorf("reading merges of chats: %w", err)
	}
	left := mergeSteps
	for _, p := range all {
		for more := true; more && left > 0; left-- {
			var err error
			if more, err = s.stepMerge(ctx, p, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// finishMerges ends the merges of the chat of an address, a step at a time, so
// that it is whole.
func (s *Service) finishMerges(ctx context.Context, l referenceInfo, addr provider.Address) error {
	for {
		c, err := s.chat(ctx, s.db, l.ID, addr)
		if errors.Is(err, ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		var all []pendingMerge
		if err := s.db.SelectContext(ctx, &all, pendingMerges+`WHERE m.gone = $1 OR m.keep = $1 ORDER BY m.gone LIMIT 1`, c.ID); err != nil {
			return fmt.Errorf("reading merges of chats: %w", err)
		}
		if len(all) == 0 {
			return nil
		}
		for more := true; more; {
			if more, err = s.stepMerge(ctx, all[0], true); err != nil {
				return err
			}
		}
	}
}

// stepMerge moves some of the oldest messages from one chat to the other, or all
// that is left, and says whether it is to be called again. What waits for files
// moves at the end, which now forces.
func (s *Service) stepMerge(ctx context.Context, p pendingMerge, now bool) (more bool, err error) {
	err = s.inBatch(ctx, func(u *batch) error {
		more = false
		err := u.lock(ctx, []int64{p.Keep, p.Gone})
		if errors.Is(err, errMoved) { // one of them was deleted, or merged with another
			_, err = u.tx.ExecContext(ctx, `DELETE FROM messaging_merge WHERE gone = $1 AND keep = $2`, p.Gone, p.Keep)
		}
		keep, gone := u.chats[p.Keep], u.chats[p.Gone]
		if err != nil || keep == nil || gone == nil {
			return err
		}
		large, err := u.movesInSteps(ctx, gone.ID)
		if err != nil {
			return err
		}
		if large {
			if more, err = u.moveSome(ctx, keep, gone); err != nil || more || !now {
				return err
			}
		}
		return u.mergeRest(ctx, p.Account, keep, gone)
	})
	if err != nil {
		return false, fmt.Errorf("merging chats: %w", err)
	}
	return more, nil
}

// moveSome moves some of the oldest messages of gone to keep, or calls when there
// are none, and says whether it moved any. The unread ones count where they are.
// A message with an event that waits stays, and so do the newest, which gone shows.
func (u *batch) moveSome(ctx context.Context, keep, gone *chatRow) (bool, error) {
	var rows []struct {
		Seq    int64 `db:"seq"`
		Unread bool  `db:"unread"`
	}
	err := u.tx.SelectContext(ctx, &rows, `SELECT seq, NOT mine AND past_us = 0 AND status < $1 AS unread FROM messaging_message
		WHERE chat = $2 AND seq NOT IN (SELECT message FROM messaging_held WHERE chat = $2) ORDER BY past_us, seq LIMIT $3`,
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
		res, err := u.tx.ExecContext(ctx, `UPDATE messaging_call SET chat = $1 WHERE id IN (SELECT id FROM messaging_call WHERE chat = $2 ORDER BY id LIMIT $3)`,
			keep.ID, gone.ID, mergeStep)
		if err != nil {
			return false, fmt.Errorf("moving calls: %w", err)
		}
		n, err := res.RowsAffected()
		return n > 0, err
	}
	in, args := u.s.db.Dialect.InNumbers("seq", 2, seqs)
	if _, err := u.tx.ExecContext(ctx, `UPDATE messaging_message SET chat = $1 WHERE `+in, append([]any{keep.ID}, args...)...); err != nil {
		return false, fmt.Errorf("moving messages: %w", err)
	}
	for chat, n := range map[int64]int64{keep.ID: unread, gone.ID: -unread} {
		if unread == 0 {
			break
		}
		if _, err := u.tx.ExecContext(ctx, `UPDATE messaging_chat SET unread = unread + $1 WHERE id = $2`, n, chat); err != nil {
			return false, fmt.Errorf("moving messages: %w", err)
		}
	}
	if keep.Marks != "" {
		u.mergeWatermarks(keep, &chatRow{}) // it looks for what was read among all messages again
	}
	return true, nil
}
