package agent

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/llm/usage"
)

// maxSpare is the most time that is kept for a last answer.
const maxSpare = 20 * time.Second

// work continues until the leg ends. All that it decides by is in the journal, so
// that another process continues in the same way.
func (w *worker) work(ctx context.Context) (*flow.ModelResult, error) {
	if w.journal.denied() {
		return w.result(flow.FinishDenied, StopDenied), nil
	}
	left := w.r.Call.Timeout - w.journal.worked(w.r.Call.Attempt, w.limits.ToolTimeout)
	whole, end := context.WithTimeout(ctx, left)
	defer end()
	loop, stop := context.WithTimeout(whole, left-w.spareTime())
	defer stop()
	for !errors.Is(ctx.Err(), context.Canceled) {
		out, err := w.follow(ctx, loop)
		if out == nil && err == nil {
			out, err = w.ask(loop, whole)
		}
		if out != nil || err != nil {
			return out, err
		}
	}
	return nil, ctx.Err()
}

// follow does what follows from the newest answer of the model, unless a person
// has said something since. It returns nothing when the model is to be asked.
func (w *worker) follow(ctx, loop context.Context) (*flow.ModelResult, error) {
	for i, e := range slices.Backward(w.journal.entries) {
		if e.Kind == kindInput {
			break
		}
		if e.Kind != kindTurn || e.Status != statusDone {
			continue
		}
		if len(e.answer.Message.Calls) == 0 || e.wanted.Last != "" {
			return w.conclude(ctx, e)
		}
		if c := ending(e); c != nil {
			return w.end(ctx, e, c)
		}
		return w.calls(loop, i)
	}
	return nil, nil
}

// ask asks the model, or stops.
func (w *worker) ask(loop, whole context.Context) (*flow.ModelResult, error) {
	why := w.bound(loop)
	if why != "" {
		return w.giveUp(whole, why)
	}
	err := w.turn(loop, "")
	var over *usage.Exceeded
	switch {
	case errors.As(err, &over) && w.hasBranch():
		return w.result(flow.FinishLimit, StopBudget), nil
	case err != nil && errors.Is(loop.Err(), context.DeadlineExceeded):
		return w.giveUp(whole, StopTimeout)
	}
	return nil, err
}

// giveUp asks for a last answer, without tools, if nothing else is done where a
// bound is reached. What is still there of tokens and time was kept for it.
func (w *worker) giveUp(ctx context.Context, why Stop) (*flow.ModelResult, error) {
	limit := w.result(flow.FinishLimit, why)
	if w.hasBranch() || ctx.Err() != nil || w.journal.turns() >= w.limits.MaxSteps ||
		w.journal.used()+w.journal.reserve(w.request(why)) > int64(w.limits.TokenBudget) {
		return limit, nil
	}
	err := w.turn(ctx, why)
	if err != nil && !errors.Is(ctx.Err(), context.Canceled) {
		w.s.opts.Logger.InfoContext(ctx, "an agent gave no last answer", "run", w.r.Run.ID, "why", string(why), "error", err)
		return w.result(flow.FinishLimit, why), nil
	}
	return nil, err
}

// bound says which bound is reached, if one is.
func (w *worker) bound(ctx context.Context) Stop {
	turns, next := w.journal.turns(), w.journal.reserve(w.request(""))
	if w.keepsSpare() {
		turns++
		next += w.journal.reserve(w.request(StopBudget))
	}
	failed := w.journal.failures()
	switch {
	case ctx.Err() != nil:
		return StopTimeout
	case failed != "":
		return failed
	case turns >= w.limits.MaxSteps:
		return StopMaxTurns
	case w.journal.used()+next > int64(w.limits.TokenBudget):
		return StopBudget
	}
	return ""
}

// hasBranch says that the flow has something else to do where a bound is
// reached.
func (w *worker) hasBranch() bool {
	return slices.Contains(w.limits.Outputs, string(flow.FinishLimit))
}

// keepsSpare says that something is kept for a last answer without tools.
func (w *worker) keepsSpare() bool { return !w.hasBranch() && len(w.tools.shown) > 0 }

func (w *worker) spareTime() time.Duration {
	if !w.keepsSpare() {
		return 0
	}
	return min(w.r.Call.Timeout/4, maxSpare)
}
