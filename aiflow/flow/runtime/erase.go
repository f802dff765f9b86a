package runtime

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
)

// Erasure chooses what is erased.
type Erasure struct {
	Reference int64
	ChatIDs   []string // every id by which the chat is or was known; nil: all of the reference
	// MessageIDs are messages that the contact wrote in groups: runs that have
	// heard one of them go, too. Ignored without ChatIDs.
	MessageIDs []string
	Before     time.Time // what began later stays; zero: nothing does
}

// Erase removes runs, active ones too, with all that is known of them, and what
// waits to be worked on. It works in small steps, each durable, and may be
// called again after an error or a crash.
func (a *Account) Erase(ctx context.Context, e Erasure) error {
	before := int64(math.MaxInt64)
	if !e.Before.IsZero() {
		before = database.Micros(e.Before)
	}
	args := []any{a.id, e.Reference, before}
	if e.ChatIDs == nil {
		return a.r.eraser.erase(ctx, `TRUE`, args...)
	}
	for part := range slices.Chunk(e.ChatIDs, eraseChunk) {
		in, values := a.r.db.Dialect.In("chat_id", 4, anyOf(part))
		if err := a.r.eraser.erase(ctx, in, slices.Concat(args, values)...); err != nil {
			return err
		}
	}
	for part := range slices.Chunk(e.MessageIDs, eraseChunk) {
		in, values := a.r.db.Dialect.In("message", 4, anyOf(part))
		values = slices.Concat(args, values)
		err := a.r.eraser.eraseRuns(ctx, ofReference+`started_us <= $3 AND seq IN (SELECT run FROM flow_seen WHERE `+in+`)`, values...)
		if err == nil {
			err = a.r.eraser.inSteps(ctx, `DELETE FROM flow_route WHERE id IN (SELECT id FROM flow_route WHERE `+ofReference+`at_us <= $3 AND `+in+` LIMIT %d)`, values...)
		}
		if err != nil {
			return fmt.Errorf("erasing runs of groups: %w", err)
		}
	}
	return a.eraseUnheard(ctx, e)
}

const ofReference = `account = $1 AND reference = $2 AND `

// eraser removes rows of runs, in small transactions.
type eraser struct{ db *database.DB }

// erase removes runs and inputs of a reference that are not later than $3, by a
// condition whose parameters begin at $4.
func (e *eraser) erase(ctx context.Context, which string, args ...any) error {
	for _, t := range []struct{ table, at string }{{"flow_input", "created_us"}, {"flow_route", "at_us"}} {
		err := e.inSteps(ctx, `DELETE FROM `+t.table+` WHERE id IN (SELECT id FROM `+t.table+` WHERE `+ofReference+t.at+` <= $3 AND `+which+` LIMIT %d)`, args...)
		if err != nil {
			return fmt.Errorf("erasing runs: %w", err)
		}
	}
	if err := e.eraseRuns(ctx, ofReference+`started_us <= $3 AND `+which, args...); err != nil {
		return fmt.Errorf("erasing runs: %w", err)
	}
	return nil
}

// eraseRuns removes the runs of a condition.
func (e *eraser) eraseRuns(ctx context.Context, where string, args ...any) error {
	for {
		n, err := e.deleteRuns(ctx, where, args...)
		if err != nil || n == 0 {
			return err
		}
	}
}

// inSteps runs a statement, in which %d is how many rows it may change, each
// time in a transaction of its own, until it changes nothing more.
func (e *eraser) inSteps(ctx context.Context, statement string, args ...any) error {
	return e.inParts(ctx, eraseRows, statement, args...)
}

// inParts is inSteps with a number of rows.
func (e *eraser) inParts(ctx context.Context, rows int, statement string, args ...any) error {
	return e.db.InSteps(ctx, fmt.Sprintf(statement, rows), args...)
}

// eraseUnheard removes messages of groups that no run has heard yet. Few wait
// at a time.
func (a *Account) eraseUnheard(ctx context.Context, e Erasure) error {
	if len(e.MessageIDs) == 0 {
		return nil
	}
	var waiting []inputRow
	err := a.r.db.SelectContext(ctx, &waiting, `SELECT id, body FROM flow_input WHERE reference = $1 AND account = $2 AND kind = $3`, e.Reference, a.id, kindMessage)
	if err != nil {
		return fmt.Errorf("reading what waits: %w", err)
	}
	var gone []int64
	for _, in := range waiting {
		var m Incoming
		if err := json.Unmarshal([]byte(in.Body), &m); err != nil {
			return fmt.Errorf("reading a message: %w", err)
		}
		if id, _ := m.Message["id"].(string); slices.Contains(e.MessageIDs, id) {
			gone = append(gone, in.ID)
		}
	}
	for part := range slices.Chunk(gone, eraseRows) {
		in, args := a.r.db.Dialect.InNumbers("id", 1, part)
		err := a.r.db.Write(ctx, func(tx *database.Tx) error {
			_, err := tx.ExecContext(context.WithoutCancel(ctx), `DELETE FROM flow_input WHERE `+in, args...)
			return err
		})
		if err != nil {
			return fmt.Errorf("erasing messages: %w", err)
		}
	}
	return nil
}

// LockTx says whether there is a run of this id, and keeps it from being erased
// until tx ends.
func (a *Account) LockTx(ctx context.Context, on Tx, id string) (bool, error) {
	tx, err := a.r.db.Join(on)
	if err != nil {
		return false, err
	}
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

const (
	eraseChunk = 200 // ids that a statement names
	runsAtOnce = 20  // runs that are removed together
	eraseRows  = 250 // rows that a transaction removes, beside runs
)

// DeleteAll removes everything of the account. It works in small steps, each
// durable, and may be called again after an error or a crash.
func (a *Account) DeleteAll(ctx context.Context) error {
	err := a.r.eraser.inSteps(ctx, `DELETE FROM flow_schedule WHERE id IN (SELECT id FROM flow_schedule WHERE account = $1 LIMIT %d)`, a.id)
	if err != nil {
		return fmt.Errorf("deleting schedules: %w", err)
	}
	if err := a.r.eraser.eraseRuns(ctx, `account = $1`, a.id); err != nil {
		return fmt.Errorf("erasing runs: %w", err)
	}
	for _, table := range []string{"flow_input", "flow_route"} {
		err := a.r.eraser.inSteps(ctx, `DELETE FROM `+table+` WHERE id IN (SELECT id FROM `+table+` WHERE account = $1 LIMIT %d)`, a.id)
		if err != nil {
			return fmt.Errorf("erasing runs: %w", err)
		}
	}
	if err := a.r.db.InTx(ctx, func(tx *database.Tx) error { return a.r.started.ForgetTx(ctx, tx, a.id) }); err != nil {
		return fmt.Errorf("erasing runs: %w", err)
	}
	return a.r.eraser.dropDocuments(ctx, a.r.opts.Now()) // they may hold secrets
}

// deleteRuns removes some runs of a condition, and returns how many they were.
// They end first, so that no turn continues, and their rows go last: what is
// interrupted continues from there.
func (e *eraser) deleteRuns(ctx context.Context, which string, args ...any) (int, error) {
	var rows []struct {
		Seq   int64  `db:"seq"`
		Inbox string `db:"inbox"`
	}
	err := e.db.SelectContext(ctx, &rows, fmt.Sprintf(`SELECT seq, inbox FROM flow_run WHERE %s LIMIT %d`, which, runsAtOnce), args...)
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	seqs := make([]int64, len(rows))
	for i, row := range rows {
		seqs[i] = row.Seq
	}
	in, values := e.db.Dialect.InNumbers("seq", 1, seqs)
	err = e.inSteps(ctx, `UPDATE flow_run SET ended_us = started_us + 1, status = 'cancelled', cancelled = TRUE, waits = '', event = '', state = '', turn = turn + 1
		WHERE seq IN (SELECT seq FROM flow_run WHERE ended_us = 0 AND `+in+` LIMIT %d)`, values...)
	if err != nil {
		return 0, err
	}
	of, values := e.db.Dialect.InNumbers("run", 1, seqs)
	for _, t := range []struct{ table, key string }{
		{"flow_step", "id"}, {"flow_effect", "id"}, {"flow_sent", "id"}, {"flow_signal", "id"}, {"flow_seen", "run, message"}, {"flow_timer", "run, timer"},
	} {
		err := e.inSteps(ctx, `DELETE FROM `+t.table+` WHERE (`+t.key+`) IN (SELECT `+t.key+` FROM `+t.table+` WHERE `+of+` LIMIT %d)`, values...)
		if err != nil {
			return 0, err
		}
	}
	err = e.db.Write(ctx, func(tx *database.Tx) error {
		ctx := context.WithoutCancel(ctx)
		for _, row := range rows {
			if _, err := tx.ExecContext(ctx, `DELETE FROM flow_input WHERE inbox = $1 AND run = $2`, row.Inbox, row.Seq); err != nil {
				return err
			}
		}
		in, args := e.db.Dialect.InNumbers("seq", 1, seqs)
		_, err := tx.ExecContext(ctx, `DELETE FROM flow_run WHERE `+in, args...)
		return err
	})
	return len(rows), err
}
