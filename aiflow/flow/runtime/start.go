package runtime

import (
	"context"
	"fmt"
	"time"

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
	a.r.waits.await(ctx, row.Seq, s.Wait)
	return a.Run(ctx, row.ID)
}

// start is the transaction of Start.
func (a *Account) start(ctx context.Context, s Start, l *loaded) (row *runRow, err error) {
	err = a.r.db.Write(ctx, func(tx *database.Tx) error {
		ctx := context.WithoutCancel(ctx)
		known := false
		if row, known, err = a.r.runs.startTx(ctx, tx, s, l); err != nil || known {
			return err
		}
		return recordTx(ctx, tx, audit.RunStart, row, map[string]any{"version": row.Version})
	})
	return row, err
}

// StartTx is [Account.Start] when tx commits.
func (a *Account) StartTx(ctx context.Context, on Tx, s Start) (Run, error) {
	tx, err := a.r.db.Join(on)
	if err != nil {
		return Run{}, err
	}
	l, err := a.ready(&s)
	if err != nil {
		return Run{}, err
	}
	row, _, err := a.r.runs.startTx(ctx, tx, s, l)
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
	l, err := a.r.programs.compile(s.Source)
	if err != nil {
		return nil, err
	}
	try := &turn{loaded: l, input: s.begin(), env: flow.World{Now: a.r.opts.Now()}}
	if err := try.step(); err != nil {
		return nil, &BadInput{err}
	}
	return l, nil
}

func (s *Start) begin() flow.Begin { return flow.Begin{Input: s.Input, Args: s.Args, Vars: s.Vars} }
