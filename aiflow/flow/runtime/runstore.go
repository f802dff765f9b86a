package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/internal/database"
)

// runStore stores new runs.
type runStore struct {
	db       *database.DB
	inbox    *inbox
	programs *programs
	engines  *engines
	opts     *Options
}

// startTx stores a run and its first input, unless there is a run with its id:
// then it returns that one, and known is true.
func (r *runStore) startTx(ctx context.Context, tx *database.Tx, s Start, l *loaded) (row *runRow, known bool, err error) {
	if s.ID != "" {
		if row, err = r.runTx(ctx, tx, s.Chat.Account, s.ID); row != nil || err != nil {
			return row, row != nil, err
		}
	}
	if r.opts.Admit != nil && s.Parent == "" {
		if err := r.opts.Admit(ctx, tx, s.Chat.Account); err != nil {
			return nil, false, err
		}
	}
	if row, err = r.newRun(s, l); err != nil {
		return nil, false, err
	}
	if err := r.callingTx(ctx, tx, row); err != nil {
		return nil, false, err
	}
	if err := r.insertRun(ctx, tx, row, l); err != nil {
		return nil, false, err
	}
	_, err = r.inbox.enqueueTx(ctx, tx, row.job(s.begin()))
	return row, false, err
}

// runTx returns a run of an account; nil: there is none.
func (r *runStore) runTx(ctx context.Context, tx *database.Tx, account, id string) (*runRow, error) {
	var rows []*runRow
	if err := tx.SelectContext(ctx, &rows, `SELECT `+runColumns+` FROM flow_run r WHERE r.id = $1 AND r.account = $2`, id, account); err != nil {
		return nil, fmt.Errorf("looking for a run: %w", err)
	}
	if len(rows) == 0 {
		return nil, nil
	}
	return rows[0], nil
}

// newRun returns a run before its first turn.
func (r *runStore) newRun(s Start, l *loaded) (*runRow, error) {
	if s.Engine == "" {
		return nil, errors.New("runtime: Start.Engine is required")
	}
	input, err := json.Marshal(s.Input)
	if err != nil {
		return nil, fmt.Errorf("writing the input of a run: %w", err)
	}
	if s.Input == nil {
		input = []byte("{}")
	}
	id := s.ID
	if id == "" {
		id = uuid.Must(uuid.NewV7()).String()
	}
	row := &runRow{
		ID: id, Account: s.Chat.Account, Engine: s.Engine, Owner: s.Owner, Version: s.Version, Parent: s.Parent,
		Document: l.hash, Reference: s.Chat.Reference, Inbox: s.Chat.Key, ChatID: s.Chat.ID, Status: Running, Input: string(input),
		StartedUS: database.Micros(r.opts.Now()),
	}
	if d := s.Source.Document; d.Kind == flow.KindFunction {
		row.Function = d.Slug
	}
	if row.Inbox == "" {
		if s.Chat.ID != "" {
			return nil, errors.New("runtime: Start.Chat needs the Key of its chat")
		}
		row.Inbox = ownInbox + id
	}
	return row, nil
}

// insertRun stores a new run and sets its Seq.
func (r *runStore) insertRun(ctx context.Context, tx *database.Tx, row *runRow, l *loaded) error {
	if err := r.engines.keepTx(ctx, tx, row.Engine, row.Owner); err != nil {
		return err
	}
	if err := r.programs.keep(ctx, tx, l); err != nil {
		return err
	}
	err := r.insertRows(ctx, tx, []*runRow{row})
	if err != nil {
		l.stored.Store(false) // it may have been deleted as one that no run has
	}
	return err
}

const insertRuns = `INSERT INTO flow_run (id, account, engine, owner, version, document, reference, inbox, chat_id, status,
	waits, event, state, turn, input, output, error, started_us, ended_us, parent, function) `

var runTypes = []string{
	"TEXT", "TEXT", "TEXT", "TEXT", "BIGINT", "TEXT", "BIGINT", "TEXT", "TEXT", "TEXT",
	"TEXT", "TEXT", "TEXT", "BIGINT", "TEXT", "TEXT", "TEXT", "BIGINT", "BIGINT", "TEXT", "TEXT",
}

// insertRows stores new runs, whose flows and documents are kept, and sets their Seq.
func (r *runStore) insertRows(ctx context.Context, tx *database.Tx, rows []*runRow) error {
	var values []any
	byID := map[string]*runRow{}
	for _, row := range rows {
		byID[row.ID] = row
		values = append(values,
			row.ID, row.Account, row.Engine, row.Owner, row.Version, row.Document, row.Reference, row.Inbox, row.ChatID, string(row.Status),
			row.Waits, row.Event, row.State, row.Turn, row.Input, row.Output, row.Error, row.StartedUS, row.EndedUS, row.Parent, row.Function)
	}
	type inserted struct {
		ID  string `db:"id"`
		Seq int64  `db:"seq"`
	}
	stored, err := database.SelectRows[inserted](ctx, r.db, tx, database.Rows{Before: insertRuns, After: ` RETURNING id, seq`, Types: runTypes, Values: values})
	if err != nil {
		return fmt.Errorf("storing runs: %w", err)
	}
	for _, row := range stored {
		byID[row.ID].Seq = row.Seq
	}
	return nil
}

// callingTx returns [ErrEnded] for a run of a function whose parent has ended. It
// locks the parent, so that the parent cannot end without seeing the new run.
func (r *runStore) callingTx(ctx context.Context, tx *database.Tx, row *runRow) error {
	if row.Function == "" || row.Parent == "" {
		return nil
	}
	res, err := tx.ExecContext(ctx, `UPDATE flow_run SET turn = turn WHERE id = $1 AND account = $2 AND ended_us = 0`, row.Parent, row.Account)
	if err != nil {
		return fmt.Errorf("locking the run that calls a function: %w", err)
	}
	if one(res) != nil {
		return ErrEnded
	}
	return nil
}
