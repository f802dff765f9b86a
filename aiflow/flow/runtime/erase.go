package runtime

import (
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"
)

// Erasure chooses what is erased.
type Erasure struct {
	Reference int64
	ChatIDs   []string // every id by which the chat is or was known; nil: all of the line
}

// EraseTx removes runs, active ones too, with all that is known of them, and
// what waits to be worked on, when tx commits.
func (a *Account) EraseTx(ctx context.Context, tx *sqlx.Tx, e Erasure) error {
	where, args := `account = $1 AND reference = $2`, []any{a.id, e.Reference}
	if e.ChatIDs != nil {
		ids := make([]any, len(e.ChatIDs))
		for i, id := range e.ChatIDs {
			ids[i] = id
		}
		in, values := a.r.db.Dialect.In("chat_id", 3, ids)
		where, args = where+` AND `+in, append(args, values...)
	}
	for _, table := range []string{"flow_input", "flow_run"} { // the rest goes with the runs
		if _, err := tx.ExecContext(ctx, `DELETE FROM `+table+` WHERE `+where, args...); err != nil {
			return fmt.Errorf("erasing runs: %w", err)
		}
	}
	return nil
}

// eraseChunk is how many runs a transaction removes.
const eraseChunk = 200

// DeleteAll removes everything of the account. It works in small steps, each
// durable, and may be called again after an error or a crash.
func (a *Account) DeleteAll(ctx context.Context) error {
	for {
		n, err := a.r.deleteRuns(ctx, `account = $1`, a.id)
		if err != nil {
			return fmt.Errorf("erasing runs: %w", err)
		}
		if n == 0 {
			break
		}
	}
	err := a.r.db.Write(ctx, func(tx *sqlx.Tx) error {
		_, err := tx.ExecContext(context.WithoutCancel(ctx), `DELETE FROM flow_input WHERE account = $1`, a.id)
		return err
	})
	if err != nil {
		return fmt.Errorf("erasing inputs: %w", err)
	}
	return nil
}

// deleteRuns removes some runs of a condition, whose parameter is $1, and
// returns how many they were.
func (r *Runtime) deleteRuns(ctx context.Context, where string, arg any) (int, error) {
	var rows []struct {
		Seq     int64  `db:"seq"`
		Mailbox string `db:"mailbox"`
	}
	err := r.db.Write(ctx, func(tx *sqlx.Tx) error {
		ctx := context.WithoutCancel(ctx)
		rows = rows[:0]
		err := tx.SelectContext(ctx, &rows, `SELECT seq, mailbox FROM flow_run WHERE `+where+` ORDER BY seq LIMIT $2`, arg, eraseChunk)
		if err != nil || len(rows) == 0 {
			return err
		}
		seqs := make([]int64, len(rows))
		for i, row := range rows {
			seqs[i] = row.Seq
			if _, err := tx.ExecContext(ctx, `DELETE FROM flow_input WHERE mailbox = $1 AND run = $2`, row.Mailbox, row.Seq); err != nil {
				return err
			}
		}
		in, args := r.db.Dialect.InNumbers("seq", 1, seqs)
		_, err = tx.ExecContext(ctx, `DELETE FROM flow_run WHERE `+in, args...)
		return err
	})
	return len(rows), err
}
