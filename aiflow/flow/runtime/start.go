package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
)

// Start is a run to be begun.
type Start struct {
	// ID is the id of the run, a UUID: when there is one with it, that is
	// returned as it is and nothing begins. "": a new one.
	ID      string
	Engine  string
	Owner   string // the engine's id of the flow
	Version int64  // 0: a draft
	Parent  string // the id of the run that begins it; "": none does. A function that a run calls ends with that run
	Source  Source
	Chat    Chat           // the zero value: the run has none
	Input   map[string]any // what expressions see as start: an object of the caller's, or the message that the trigger took
	Args    map[string]any // of a function
	Vars    map[string]any // over the defaults of the document

	// Wait is how long to wait for the end of the first turns, until the run
	// waits for something or has ended; 0: not at all. Ignored within a
	// transaction.
	Wait time.Duration
}

// Account is the share of a [Runtime] that belongs to one account. What belongs
// to another is not found.
type Account struct {
	r  *Runtime
	id string
}

// For returns the runtime for one account.
func (r *Runtime) For(account string) *Account { return &Account{r: r, id: account} }

// Start begins a run. A source that does not compile is a [*Refused], what the
// document does not take a [*BadInput]. A function whose Parent has ended is
// [ErrEnded].
func (a *Account) Start(ctx context.Context, s Start) (Run, error) {
	l, err := a.ready(&s)
	if err != nil {
		return Run{}, err
	}
	stored := l.stored.Load()
	row, err := a.start(ctx, s, l)
	if err != nil && stored {
		row, err = a.start(ctx, s, l) // its document was deleted as one that no run has
	}
	if s.ID != "" && database.IsUnique(err) {
		row, err = a.row(ctx, s.ID) // it began at the same time elsewhere
	}
	if err != nil {
		return Run{}, fmt.Errorf("starting a run: %w", err)
	}
	l.stored.Store(true)
	a.r.Committed()
	a.r.await(ctx, row.Seq, s.Wait)
	return a.Run(ctx, row.ID)
}

// start is the transaction of Start.
func (a *Account) start(ctx context.Context, s Start, l *loaded) (row *runRow, err error) {
	err = a.r.db.Write(ctx, func(tx *sqlx.Tx) error {
		ctx := context.WithoutCancel(ctx)
		known := false
		if row, known, err = a.r.startTx(ctx, tx, s, l); err != nil || known {
			return err
		}
		return recordTx(ctx, tx, audit.RunStart, row, map[string]any{"version": row.Version})
	})
	return row, err
}

// StartTx is [Account.Start] when tx commits; call [Runtime.Committed] then.
func (a *Account) StartTx(ctx context.Context, tx *sqlx.Tx, s Start) (Run, error) {
	l, err := a.ready(&s)
	if err != nil {
		return Run{}, err
	}
	row, _, err := a.r.startTx(ctx, tx, s, l)
	if err != nil {
		l.stored.Store(false)
		return Run{}, fmt.Errorf("starting a run: %w", err)
	}
	return row.view(), nil
}

// BadInput reports a Start whose Input, Args or Vars are not what the document
// declares.
type BadInput struct{ Err error }

func (e *BadInput) Error() string { return e.Err.Error() }
func (e *BadInput) Unwrap() error { return e.Err }

// ready checks a start. What the first turn would be is computed and
// forgotten: it refuses what does not fit.
func (a *Account) ready(s *Start) (*loaded, error) {
	s.Chat.Account = a.id
	l, err := a.r.loaded.compile(s.Source)
	if err != nil {
		return nil, err
	}
	try := &turn{loaded: l, input: s.begin(), env: flow.World{Now: a.r.now()}}
	if err := try.step(); err != nil {
		return nil, &BadInput{err}
	}
	return l, nil
}

func (s *Start) begin() flow.Begin { return flow.Begin{Input: s.Input, Args: s.Args, Vars: s.Vars} }

// startTx stores a run and what begins it, unless there is one with its id: then
// that is known.
func (r *Runtime) startTx(ctx context.Context, tx *sqlx.Tx, s Start, l *loaded) (row *runRow, known bool, err error) {
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

// runTx is a run of an account; nil: there is none.
func (r *Runtime) runTx(ctx context.Context, tx *sqlx.Tx, account, id string) (*runRow, error) {
	var rows []*runRow
	if err := tx.SelectContext(ctx, &rows, `SELECT `+runColumns+` FROM flow_run r WHERE r.id = $1 AND r.account = $2`, id, account); err != nil {
		return nil, fmt.Errorf("looking for a run: %w", err)
	}
	if len(rows) == 0 {
		return nil, nil
	}
	return rows[0], nil
}

// newRun is a run before its first turn.
func (r *Runtime) newRun(s Start, l *loaded) (*runRow, error) {
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
		StartedUS: database.Micros(r.now()),
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
func (r *Runtime) insertRun(ctx context.Context, tx *sqlx.Tx, row *runRow, l *loaded) error {
	if err := r.kept(ctx, tx, row); err != nil {
		return err
	}
	if err := r.loaded.keep(ctx, tx, l); err != nil {
		return err
	}
	var seqs []int64
	err := r.db.SelectTx(ctx, tx, &seqs, `INSERT INTO flow_run (id, account, engine, owner, version, document, reference, inbox, chat_id, status,
		waits, event, state, turn, input, output, error, started_us, ended_us, parent, function)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21) RETURNING seq`,
		row.ID, row.Account, row.Engine, row.Owner, row.Version, row.Document, row.Reference, row.Inbox, row.ChatID, row.Status,
		row.Waits, row.Event, row.State, row.Turn, row.Input, row.Output, row.Error, row.StartedUS, row.EndedUS, row.Parent, row.Function)
	if err != nil {
		l.stored.Store(false) // it may have been deleted as one that no run has
		return fmt.Errorf("storing a run: %w", err)
	}
	row.Seq = seqs[0]
	return nil
}
