package runtime

import (
	"context"
	"errors"
	"fmt"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/queue"
)

// mergeStep is how many ended runs a transaction moves from one chat to another.
const mergeStep = 500

// MergedTx moves everything of chats that have become one with another to
// that one: inputs are taken in the order in which they came. A turn that is being
// taken in one of them finds out, and is taken again. Inputs are locked before
// runs, as by turns. Runs that have ended follow in steps after the commit.
func (r *Runtime) MergedTx(ctx context.Context, on Tx, keep Chat, gone []string) error {
	tx, err := r.db.Join(on)
	if err != nil {
		return err
	}
	for _, key := range gone {
		if _, err := tx.ExecContext(ctx, `UPDATE flow_input SET inbox = $1, chat_id = $2 WHERE inbox = $3`, keep.Key, keep.ID, key); err != nil {
			return fmt.Errorf("moving the inputs of a chat: %w", err)
		}
		if _, err := tx.ExecContext(ctx, `UPDATE flow_run SET inbox = $1, chat_id = $2 WHERE inbox = $3 AND ended_us = 0`, keep.Key, keep.ID, key); err != nil {
			return fmt.Errorf("moving the runs of a chat: %w", err)
		}
		if err := putMergeTx(ctx, tx, merge{Gone: key, Keep: keep.Key, ChatID: keep.ID}); err != nil {
			return err
		}
		tx.AfterCommit(r.timers.notify)
		if err := r.turns.PutTx(ctx, tx, queue.JobArgs{Subscriber: subscriber(keep.Account, keep.Reference), Key: keep.Key, Merged: key}); err != nil {
			return err
		}
		if err := r.inbox.notifyTx(ctx, tx, subscriber(keep.Account, keep.Reference), keep.Key, 0); err != nil {
			return err
		}
	}
	return nil
}

// merge says that the ended runs of one chat are to be moved to another.
type merge struct {
	Gone   string `db:"gone"` // the key of the chat that they are in
	Keep   string `db:"keep"`
	ChatID string `db:"chat_id"` // of Keep
}

// putMergeTx has the ended runs of a chat moved. What was to be moved to that
// chat is moved to the other instead, and what is in the other stays there.
func putMergeTx(ctx context.Context, tx *database.Tx, m merge) error {
	var ended bool
	if err := tx.GetContext(ctx, &ended, `SELECT EXISTS (SELECT 1 FROM flow_run WHERE inbox = $1 AND ended_us > 0)`, m.Gone); err != nil {
		return fmt.Errorf("looking for ended runs of a chat: %w", err)
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM flow_merge WHERE gone = $1`, m.Keep); err != nil {
		return fmt.Errorf("putting off the move of runs: %w", err)
	}
	if _, err := tx.ExecContext(ctx, `UPDATE flow_merge SET keep = $1, chat_id = $2 WHERE keep = $3`, m.Keep, m.ChatID, m.Gone); err != nil {
		return fmt.Errorf("putting off the move of runs: %w", err)
	}
	if !ended {
		return nil
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO flow_merge (gone, keep, chat_id) VALUES ($1, $2, $3)
		ON CONFLICT (gone) DO UPDATE SET keep = excluded.keep, chat_id = excluded.chat_id`, m.Gone, m.Keep, m.ChatID)
	if err != nil {
		return fmt.Errorf("putting off the move of runs: %w", err)
	}
	return nil
}

// moveMerged moves some ended runs of a merged chat, the oldest first.
func moveMerged(ctx context.Context, db *database.DB) error {
	err := db.Write(ctx, func(tx *database.Tx) error {
		ctx := context.WithoutCancel(ctx)
		var next []merge
		query := `SELECT gone, keep, chat_id FROM flow_merge ORDER BY gone LIMIT 1`
		if db.Dialect == database.Postgres {
			query += ` FOR UPDATE SKIP LOCKED` // another node is at it
		}
		if err := tx.SelectContext(ctx, &next, query); err != nil || len(next) == 0 {
			return err
		}
		m := next[0]
		res, err := tx.ExecContext(ctx, `UPDATE flow_run SET inbox = $1, chat_id = $2
			WHERE seq IN (SELECT seq FROM flow_run WHERE inbox = $3 AND ended_us > 0 ORDER BY ended_us, seq LIMIT $4)`, m.Keep, m.ChatID, m.Gone, mergeStep)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n == mergeStep {
			return err
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM flow_merge WHERE gone = $1`, m.Gone)
		return err
	})
	if err != nil {
		return fmt.Errorf("moving the ended runs of a chat: %w", err)
	}
	return nil
}

// forward moves an input to where its run is by now: it was on its way when
// two chats became one. Of a run that has ended it is dropped.
func (h *turnHandler) forward(ctx context.Context, in *inputRow) error {
	run, err := runBySeq(ctx, h.db, in.Run)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	if err != nil || run.EndedUS > 0 || run.Inbox == in.Inbox {
		return h.drop(ctx, in, in.Kind)
	}
	return h.db.Write(ctx, func(tx *database.Tx) error {
		ctx := context.WithoutCancel(ctx)
		res, err := tx.ExecContext(ctx, `UPDATE flow_input SET inbox = $1, chat_id = $2 WHERE id = $3 AND inbox = $4`, run.Inbox, run.ChatID, in.ID, in.Inbox)
		if err == nil {
			err = one(res)
		}
		if err != nil {
			return err
		}
		return h.inbox.notifyTx(ctx, tx, subscriber(run.Account, run.Reference), run.Inbox, in.ID)
	})
}
