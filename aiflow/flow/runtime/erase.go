package runtime

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
)

// Erasure chooses what is erased.
type Erasure struct {
	Reference int64
	ChatIDs   []string // every id by which the chat is or was known; nil: all of the line
	// MessageIDs are messages that the contact wrote in groups: runs that have
	// heard one of them go, too. Ignored without ChatIDs.
	MessageIDs []string
}

// EraseTx removes runs, active ones too, with all that is known of them, and
// what waits to be worked on, when tx commits.
func (a *Account) EraseTx(ctx context.Context, tx *sqlx.Tx, e Erasure) error {
	const where = `account = $1 AND reference = $2`
	if e.ChatIDs == nil {
		return a.eraseTx(ctx, tx, where, a.id, e.Reference)
	}
	for part := range slices.Chunk(e.ChatIDs, eraseChunk) {
		in, values := a.r.db.Dialect.In("chat_id", 3, anyOf(part))
		if err := a.eraseTx(ctx, tx, where+` AND `+in, append([]any{a.id, e.Reference}, values...)...); err != nil {
			return err
		}
	}
	for part := range slices.Chunk(e.MessageIDs, eraseChunk) {
		in, values := a.r.db.Dialect.In("message", 3, anyOf(part))
		_, err := tx.ExecContext(ctx, `DELETE FROM flow_run WHERE `+where+` AND seq IN (SELECT run FROM flow_heard WHERE `+in+`)`,
			append([]any{a.id, e.Reference}, values...)...)
		if err != nil {
			return fmt.Errorf("erasing runs of groups: %w", err)
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM flow_route WHERE `+where+` AND `+in, append([]any{a.id, e.Reference}, values...)...)
		if err != nil {
			return fmt.Errorf("erasing routes of groups: %w", err)
		}
	}
	return a.eraseUnheard(ctx, tx, e)
}

// eraseTx removes runs and inputs of a condition. What belongs to runs goes
// with them.
func (a *Account) eraseTx(ctx context.Context, tx *sqlx.Tx, where string, args ...any) error {
	for _, table := range []string{"flow_input", "flow_route", "flow_run"} {
		if _, err := tx.ExecContext(ctx, `DELETE FROM `+table+` WHERE `+where, args...); err != nil {
			return fmt.Errorf("erasing runs: %w", err)
		}
	}
	return nil
}

// eraseUnheard removes messages of groups that no run has heard yet. Few wait
// at a time.
func (a *Account) eraseUnheard(ctx context.Context, tx *sqlx.Tx, e Erasure) error {
	if len(e.MessageIDs) == 0 {
		return nil
	}
	var waiting []inputRow
	err := tx.SelectContext(ctx, &waiting, `SELECT id, body FROM flow_input WHERE reference = $1 AND account = $2 AND kind = $3`, e.Reference, a.id, kindMessage)
	if err != nil {
		return fmt.Errorf("reading what waits: %w", err)
	}
	for _, in := range waiting {
		var m Incoming
		if err := json.Unmarshal([]byte(in.Body), &m); err != nil {
			return fmt.Errorf("reading a message: %w", err)
		}
		if id, _ := m.Message["id"].(string); !slices.Contains(e.MessageIDs, id) {
			continue
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM flow_input WHERE id = $1`, in.ID); err != nil {
			return fmt.Errorf("erasing a message: %w", err)
		}
	}
	return nil
}

// HoldTx says whether there is a run of this id, and keeps it from being erased
// until tx ends.
func (a *Account) HoldTx(ctx context.Context, tx *sqlx.Tx, id string) (bool, error) {
	query := `SELECT seq FROM flow_run WHERE id = $1 AND account = $2`
	if a.r.db.Dialect == database.Postgres {
		query += ` FOR KEY SHARE`
	}
	var seqs []int64
	if err := tx.SelectContext(ctx, &seqs, query, id, a.id); err != nil {
		return false, fmt.Errorf("holding a run: %w", err)
	}
	return len(seqs) > 0, nil
}

func anyOf(texts []string) []any {
	out := make([]any, len(texts))
	for i, t := range texts {
		out[i] = t
	}
	return out
}

// eraseChunk is how many ids a statement names, and how many runs a
// transaction of DeleteAll removes.
const eraseChunk = 200

// DeleteAll removes everything of the account. It works in small steps, each
// durable, and may be called again after an error or a crash.
func (a *Account) DeleteAll(ctx context.Context) error {
	err := a.r.db.Write(ctx, func(tx *sqlx.Tx) error {
		_, err := tx.ExecContext(context.WithoutCancel(ctx), `DELETE FROM flow_schedule WHERE account = $1`, a.id)
		return err
	})
	if err != nil {
		return fmt.Errorf("deleting schedules: %w", err)
	}
	for {
		n, err := a.r.deleteRuns(ctx, `account = $1 ORDER BY seq`, a.id)
		if err != nil {
			return fmt.Errorf("erasing runs: %w", err)
		}
		if n == 0 {
			break
		}
	}
	err = a.r.db.Write(ctx, func(tx *sqlx.Tx) error {
		return a.eraseTx(context.WithoutCancel(ctx), tx, `account = $1`, a.id)
	})
	if err != nil {
		return err
	}
	return a.r.dropDocuments(ctx, a.r.now()) // they may hold secrets
}

// deleteRuns removes some runs of a condition with an order, whose parameter is
// $1, and returns how many they were.
func (r *Runtime) deleteRuns(ctx context.Context, which string, arg any) (int, error) {
	var rows []struct {
		Seq     int64  `db:"seq"`
		Mailbox string `db:"mailbox"`
	}
	err := r.db.Write(ctx, func(tx *sqlx.Tx) error {
		ctx := context.WithoutCancel(ctx)
		rows = rows[:0]
		err := tx.SelectContext(ctx, &rows, `SELECT seq, mailbox FROM flow_run WHERE `+which+` LIMIT $2`, arg, eraseChunk)
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
