package aiflow

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
)

// startWait is how long [Runs.Start] waits for the first turn.
const startWait = 10 * time.Second

// Start is a run to be begun.
type Start struct {
	Flow  string
	Chat  runtime.Chat   // the zero value: the run has none
	Input map[string]any // what expressions see as start and input
	// ID is the id of the run, a UUID: a run that has it is returned as it is. "":
	// a new one.
	ID string
	// Parent is the id of the run that begins it; "": none does.
	Parent string
}

// Runs are the runs of the flows of an account.
type Runs struct{ scope }

// Start begins a run of what is published of a flow, and waits for its first
// turn, at most 10 s. One that is not published is [ErrUnpublished].
func (a Runs) Start(ctx context.Context, s Start) (runtime.Run, error) {
	r, err := a.flow(ctx, a.s.db, s.Flow, "")
	if err != nil {
		return runtime.Run{}, err
	}
	start, err := a.begin(ctx, r)
	if err != nil {
		return runtime.Run{}, err
	}
	start.ID, start.Parent, start.Chat, start.Input, start.Wait = s.ID, s.Parent, s.Chat, s.Input, startWait
	return a.runs().Start(ctx, start)
}

// begin is how the published version of a flow begins.
func (a scope) begin(ctx context.Context, r flowRow) (runtime.Start, error) {
	switch {
	case r.Version == 0:
		return runtime.Start{}, ErrUnpublished
	case r.Kind == flow.KindFunction:
		return runtime.Start{}, ErrFunction
	}
	src, err := a.s.Source(ctx, a.id, r.ID, r.Version)
	return runtime.Start{Engine: a.s.Name(), Owner: r.ID, Version: r.Version, Source: src}, err
}

// Jump is how the flow begins to which a run of another of the same project
// jumps by its slug.
func (a *Account) Jump(ctx context.Context, from, slug string) (runtime.Start, error) {
	var r flowRow
	err := a.s.db.GetContext(ctx, &r, `SELECT `+flowColumns+` FROM aiflow_flow WHERE account = $1 AND slug = $2 AND NOT removed
		AND project = (SELECT project FROM aiflow_flow WHERE id = $3)`, a.id, slug, from)
	if errors.Is(err, sql.ErrNoRows) {
		return runtime.Start{}, ErrNotFound
	}
	if err != nil {
		return runtime.Start{}, fmt.Errorf("looking for a flow: %w", err)
	}
	return a.begin(ctx, r)
}

func (a scope) runs() *runtime.Account { return a.s.opts.Runs.For(a.id) }

// RunFilter chooses runs. What is empty does not choose.
type RunFilter struct {
	Flow   string // without the functions that its runs called, unless Parent is set
	Parent string // the id of the run that began them
	Status runtime.Status
	List
}

// List lists the runs of flows, the newest first.
func (a Runs) List(ctx context.Context, f RunFilter) (Page[runtime.Run], error) {
	return a.s.store.Runs(ctx, a.id, runtime.Filter{Owner: f.Flow, Parent: f.Parent, Status: f.Status, Limit: f.Limit, Cursor: f.Cursor})
}

// Get returns a run of one of the account's flows with its steps.
func (a Runs) Get(ctx context.Context, run string) (runtime.Detail, error) {
	return a.s.store.Detail(ctx, a.id, run)
}

// deliver gives something to a run of a flow, and returns it after its turn.
func (a Runs) deliver(ctx context.Context, run string, give func() (runtime.Run, error)) (runtime.Run, error) {
	if !isID(run) {
		return runtime.Run{}, ErrNotFound
	}
	known, err := a.runs().Run(ctx, run)
	if errors.Is(err, runtime.ErrNotFound) || err == nil && known.Engine != a.s.Name() {
		return runtime.Run{}, ErrNotFound
	}
	if err != nil {
		return runtime.Run{}, err
	}
	return give()
}

// Cancel ends a run. One that has ended is [runtime.ErrEnded].
func (a Runs) Cancel(ctx context.Context, run string) (runtime.Run, error) {
	return a.deliver(ctx, run, func() (runtime.Run, error) { return a.runs().Cancel(ctx, run, "cancelled by a user") })
}

// Retry has a failed run continue with the step that failed. What it did before
// stays done. A call that must not be made twice, and may have been made, is
// made again only with repeat. It returns [runtime.ErrNotFailed],
// [runtime.ErrBusy] or [runtime.ErrRepeat] for a run that does not continue.
func (a Runs) Retry(ctx context.Context, run string, repeat bool) (runtime.Run, error) {
	return a.deliver(ctx, run, func() (runtime.Run, error) { return a.runs().Retry(ctx, run, repeat) })
}

// Watch returns a channel that gets a run as it is now, and again after its
// turns; see [runtime.Account.Watch].
func (a Runs) Watch(ctx context.Context, run string) (seen <-chan runtime.Run, err error) {
	_, err = a.deliver(ctx, run, func() (_ runtime.Run, err error) {
		seen, err = a.runs().Watch(ctx, run)
		return runtime.Run{}, err
	})
	return seen, err
}

// Event gives a named event to a run. One that does not wait for it continues as
// before.
func (a Runs) Event(ctx context.Context, run string, e flow.Event) (runtime.Run, error) {
	return a.deliver(ctx, run, func() (runtime.Run, error) { return a.runs().Event(ctx, run, e) })
}

// Approve answers a run that asks whether an agent may use a tool.
func (a Runs) Approve(ctx context.Context, run, step string, approved bool) (runtime.Run, error) {
	return a.deliver(ctx, run, func() (runtime.Run, error) { return a.runs().Approve(ctx, run, step, approved) })
}
