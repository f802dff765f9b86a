package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/groupcommit"
	"github.com/trunklinehq/trunkline/internal/queue"
)

const (
	// turnsAtOnce is how many turns a chat takes before others have theirs.
	turnsAtOnce = 16
	// raceWait is how long to wait after a turn that another node took first.
	raceWait = 20 * time.Millisecond
	// maxRetryPause is the longest pause between two attempts at a turn.
	maxRetryPause = 30 * time.Second
	// maxAttempts is how often a turn is attempted that fails for another reason
	// than the database.
	maxAttempts = 8
)

// turnHandler takes the turns of runs.
type turnHandler struct {
	db       *database.DB
	chats    ChatService
	inbox    *inbox
	runs     *runStore
	programs *programs
	router   *router
	timers   *timers
	waits    *waits
	calls    *queue.Queue
	failures failures
	commits  *groupcommit.Group[*work]
	drops    *groupcommit.Group[*inputRow]
	opts     *Options
}

// handleTurn works on what has come for a chat.
func (h *turnHandler) handleTurn(ctx context.Context, it queue.Job) queue.Outcome {
	own := false // the input of the job is done
	for range turnsAtOnce {
		if ctx.Err() != nil {
			return queue.Outcome{Result: queue.Snooze}
		}
		in, runs, err := h.inbox.work(ctx, it.Key)
		if err == nil && in == nil && !own {
			in, runs, err = h.inbox.strayed(ctx, it)
		}
		if err == nil && in == nil {
			return queue.Outcome{Result: queue.Done}
		}
		if err == nil {
			err = h.traced(ctx, in, runs)
		}
		if err != nil {
			return h.failedTurn(ctx, it.Key, in, err)
		}
		h.failures.forget(it.Key)
		own = own || strconv.FormatInt(in.ID, 10) == it.Subject
		if !in.more {
			return queue.Outcome{Result: queue.Done} // what comes later has items of its own
		}
	}
	return again // there may be more
}

// again has its inbox looked at once more, after those of others.
var again = queue.Outcome{Result: queue.Retry, After: time.Millisecond}

// failedTurn says when to try again.
func (h *turnHandler) failedTurn(ctx context.Context, inbox string, in *inputRow, err error) queue.Outcome {
	if errors.Is(err, errTaken) {
		return queue.Outcome{Result: queue.Retry, After: raceWait}
	}
	if ctx.Err() != nil {
		return queue.Outcome{Result: queue.Snooze}
	}
	failed := h.failures.add(inbox)
	if in != nil && failed >= maxAttempts && !database.Failed(err) {
		h.opts.Logger.ErrorContext(ctx, "trunkline.flow.gave_up", "input", in.ID, "kind", in.Kind, "error", err)
		if err := h.giveUp(ctx, in); err == nil {
			h.failures.forget(inbox)
			return again
		}
	}
	h.opts.Logger.WarnContext(ctx, "a turn failed and is tried again", "failed", failed, "error", err)
	return queue.Outcome{Result: queue.Retry, After: min(maxRetryPause, 25*time.Millisecond<<min(failed, 12))}
}

// failures counts, by inbox and in this process, the turns that failed in a
// row. A restart forgets them, which costs a few attempts.
type failures struct {
	mu    sync.Mutex
	byKey map[string]int
}

func (f *failures) add(inbox string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.byKey == nil {
		f.byKey = map[string]int{}
	}
	f.byKey[inbox]++
	return f.byKey[inbox]
}

func (f *failures) forget(inbox string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.byKey, inbox)
}

// giveUp ends what cannot be done: the run that the input is for, or a message
// that no run can take.
func (h *turnHandler) giveUp(ctx context.Context, in *inputRow) error {
	if in.Run == 0 {
		in.routeTo(RouteFailed, "", nil)
		return h.drop(ctx, in, "failed")
	}
	row, err := runBySeq(ctx, h.db, in.Run)
	if err != nil {
		return err
	}
	t := &turn{row: *row, in: in, startedAt: h.opts.Now()}
	t.breakOff()
	return h.commit(ctx, t)
}

// work does what follows from one input, in whose inbox runs are active.
func (h *turnHandler) work(ctx context.Context, in *inputRow, runs []*runRow) error {
	in.more = in.more || slices.ContainsFunc(runs, (*runRow).busy) // others wait for it
	if in.Kind == kindMessage {
		return h.message(ctx, in, runs)
	}
	for _, run := range runs {
		if run.Seq == in.Run {
			return h.resume(ctx, run, in)
		}
	}
	return h.forward(ctx, in)
}

// resume gives a run what came for it.
func (h *turnHandler) resume(ctx context.Context, run *runRow, in *inputRow) error {
	input, err := flow.DecodeInput(json.RawMessage(in.Body))
	if err != nil {
		return err
	}
	view, err := h.snapshot(ctx, run)
	if err != nil {
		return err
	}
	if c, is := input.(flow.Cancel); is && run.Turn == 0 {
		return h.cancelUnstarted(ctx, run, in, c)
	}
	if t, is := input.(flow.Timer); is && view.Silent && run.pausesTimers() {
		return h.timers.postpone(ctx, run, in, t, view.Until)
	}
	taken, err := h.turn(ctx, run, in, input, view)
	if err == nil && !taken {
		err = h.drop(ctx, in, in.Kind)
	}
	return err
}

// cancelUnstarted ends a run that has taken no turn yet.
func (h *turnHandler) cancelUnstarted(ctx context.Context, run *runRow, in *inputRow, c flow.Cancel) error {
	t := &turn{row: *run, in: in, input: c, startedAt: h.opts.Now()}
	end := &flow.Ending{Status: flow.StatusCancelled}
	if c.Reason != "" {
		end.Output = c.Reason
	}
	t.out = &flow.Turn{State: &flow.State{Ended: end}}
	return h.commit(ctx, t)
}

// snapshot shows the chat of a run; a run without one sees nothing.
func (h *turnHandler) snapshot(ctx context.Context, run *runRow) (Snapshot, error) {
	if !run.hasChat() {
		return Snapshot{}, nil
	}
	return h.snapshotOf(ctx, run.chat())
}

func (h *turnHandler) snapshotOf(ctx context.Context, c Chat) (Snapshot, error) {
	view, err := h.chats.Snapshot(ctx, c)
	if err != nil {
		return Snapshot{}, fmt.Errorf("looking at a chat: %w", err)
	}
	return view, nil
}

// turn computes a turn of a run and commits it. It reports false, having
// changed nothing, when the run does not wait for the input.
func (h *turnHandler) turn(ctx context.Context, run *runRow, in *inputRow, input flow.Input, view Snapshot) (bool, error) {
	l, err := h.programs.load(ctx, run.Document)
	if err != nil {
		return false, fmt.Errorf("loading the flow of run %s: %w", run.ID, err)
	}
	started := h.opts.Now()
	t := &turn{row: *run, loaded: l, in: in, input: input, startedAt: started, env: h.env(run, view, started)}
	err = h.finish(ctx, t)
	if errors.Is(err, flow.ErrNotWaiting) {
		return false, nil
	}
	return err == nil, err
}

// env is what a turn sees.
func (h *turnHandler) env(run *runRow, view Snapshot, now time.Time) flow.World {
	w := flow.World{
		Now: now, Run: flow.RunInfo{ID: run.ID, StartedAt: database.Time(run.StartedUS)}, Contact: view.Contact, Chat: view.Chat,
	}
	if h.opts.Extractor != nil {
		w.Extractor = h.opts.Extractor(run.Account)
	}
	return w
}

// finish computes a turn and commits it. What the chat service refuses is told to the
// turn, which is computed again.
func (h *turnHandler) finish(ctx context.Context, t *turn) error {
	for {
		err := t.step()
		if errors.Is(err, flow.ErrNotWaiting) {
			return err
		}
		if err != nil {
			h.opts.Logger.ErrorContext(ctx, "trunkline.flow.broken", "run", t.row.ID, "error", err)
			t.breakOff()
		}
		err = h.commit(ctx, t)
		var no *refusal
		if !errors.As(err, &no) || t.env.Refused[no.id] != nil {
			return err
		}
		if t.env.Refused == nil {
			t.env.Refused = map[string]*flow.Error{}
		}
		t.env.Refused[no.id] = no.err
	}
}

// breakOff makes a turn one that ends the run, because it cannot be computed.
func (t *turn) breakOff() {
	t.out = &flow.Turn{State: &flow.State{Ended: &flow.Ending{
		Status: flow.StatusFailed, Error: &flow.Error{Code: "internal", Message: "The run could not continue."},
	}}}
}

// turn is a turn on its way to its commit.
type turn struct {
	row       runRow // as the commit leaves it
	loaded    *loaded
	in        *inputRow // nil: it came from nowhere but the turn before
	input     flow.Input
	env       flow.World
	out       *flow.Turn
	startedAt time.Time
	jump      *jump // the run that takes over
	fresh     bool  // the run is stored with this turn
}

// refusal says that the host refuses an effect.
type refusal struct {
	id  string
	err *flow.Error
}

func (r *refusal) Error() string { return "refused: " + r.err.Error() }

// step computes the turn.
func (t *turn) step() error {
	return protected(func() (err error) {
		var state *flow.State
		if t.row.State != "" {
			state = &flow.State{}
			if err := state.UnmarshalJSON([]byte(t.row.State)); err != nil {
				return fmt.Errorf("reading the state of a run: %w", err)
			}
		}
		t.out, err = t.loaded.program.Step(state, t.input, t.env)
		return err
	})
}

// drop forgets an input that no run wants, together with those of other chats.
func (h *turnHandler) drop(ctx context.Context, in *inputRow, what string) error {
	err := h.drops.Do(ctx, in)
	if err == nil {
		h.opts.Observer.dropped(what)
		h.waits.notify(in.Run)
	}
	return err
}

// dropAll forgets inputs and returns the error of each.
func (h *turnHandler) dropAll(ctx context.Context, ins []*inputRow) []error {
	var dropped []*inputRow
	err := h.db.Write(ctx, func(tx *database.Tx) error {
		taken, err := h.inbox.takeTx(ctx, tx, ins)
		if err != nil {
			return err
		}
		dropped = nil
		for _, in := range ins {
			if taken[in.ID] {
				dropped = append(dropped, in)
				delete(taken, in.ID) // once: this node may work on it twice, after it lost the chat
			}
		}
		return h.inbox.routeTx(ctx, tx, dropped)
	})
	errs := make([]error, len(ins))
	for i, in := range ins {
		if errs[i] = err; err == nil && !slices.Contains(dropped, in) {
			errs[i] = errTaken
		}
	}
	return errs
}
