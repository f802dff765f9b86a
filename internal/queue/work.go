package queue

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/trunklinehq/trunkline/internal/span"
)

// Why a handler's context ended.
var (
	errLeaseLost = errors.New("partition: the lease has ended")
	errDrained   = errors.New("partition: the node stops")
	errTimeout   = fmt.Errorf("partition: the handler took too long: %w", context.DeadlineExceeded)
)

// worker handles the jobs of claimed partitions.
type worker struct {
	*Queue
	slots     *slots
	completer *completer
}

// begin loads the jobs of claimed partitions and starts to work on them.
func (w *worker) begin(ctx, handling context.Context, runs []*run, deadline time.Time) {
	w.slots.register(handling, runs, deadline)
	if err := w.load(handling, runs); err != nil {
		w.log.WarnContext(ctx, "loading jobs failed", "error", err)
		for _, r := range runs {
			go w.abandon(r, failedWait)
		}
		return
	}
	w.start(w.slots.start(runs))
}

// start works on runs that have a slot, each in a goroutine of its own.
func (w *worker) start(runs []*run) {
	for _, r := range runs {
		go w.work(r)
	}
}

func (w *worker) load(ctx context.Context, runs []*run) error {
	if w.o.Load == nil {
		return nil
	}
	var jobs []*Job
	for _, r := range runs {
		jobs = append(jobs, r.jobs...)
	}
	ctx, cancel := context.WithTimeout(ctx, w.o.Lease/4)
	defer cancel()
	return w.o.Load(ctx, jobs)
}

// work handles the jobs of a run, one after the other, as far as they go.
func (w *worker) work(r *run) {
	r.outs = make([]Outcome, 0, len(r.jobs))
	for i, it := range r.jobs {
		if i > 0 && time.Since(r.started) > sliceOfRun || !w.slots.mayHandle(r) {
			break
		}
		out := w.handle(r, *it)
		r.outs = append(r.outs, out)
		if out.Result != Done {
			break
		}
	}
	r.completion = r.completed()
	r.end()
	w.start(w.slots.leave(r))
	w.completer.complete(r)
}

// abandon hands a run back that was not begun.
func (w *worker) abandon(r *run, wait time.Duration) {
	r.completion = r.untouched(wait)
	r.end()
	w.completer.complete(r)
}

// handle makes one attempt.
func (w *worker) handle(r *run, it Job) (out Outcome) {
	r.bound(w.o.Timeout)
	defer func() {
		r.unbound()
		if v := recover(); v != nil {
			w.log.ErrorContext(r.ctx, "handler panicked", "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			out = Outcome{Result: Retry, After: backoff(it.Attempt)}
		}
		out.Job = it
	}()
	return w.o.Handle(span.With(r.ctx, it.Traceparent), it)
}

// backoff is the wait after a failure that chose none: 1 s, doubled with each
// attempt up to about 4 min.
func backoff(attempt int) time.Duration { return time.Second << min(max(attempt, 0), 8) }
