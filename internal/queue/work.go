package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/span"
)

// Why a handler's context ended.
var (
	errLeaseLost = errors.New("partition: the lease has ended")
	errDrained   = errors.New("partition: the node stops")
	errTimeout   = fmt.Errorf("partition: the handler took too long: %w", context.DeadlineExceeded)
)

// run is a claimed partition and the jobs taken with it.
type run struct {
	partition, epoch int64
	subscriber, key  string
	parked           int64
	head, tail       int64
	attempt          int
	since            int64
	probe            bool // of a paused subscriber
	jobs             []*Job
	pauses           int // of the subscriber when it was claimed
	ctx              context.Context
	cancel           context.CancelCauseFunc
	expire           *time.Timer
	limit            *time.Timer // of the handler at work
	until            time.Time   // the handler must end before; mu of the node
	renewed          time.Time   // when the lease was last known to be taken; mu of the node
	outs             []Outcome
	completion                     // what outs mean
	counted          bool          // in the pausing of its subscriber
	started          time.Time     // when it got a worker; mu of the node
	slow             bool          // it gave the worker away since; mu of the node
	left             bool          // it has handled what it could; mu of the node
	again            time.Duration // the last wait before finishing it again
}

func (r *run) add(seq int64, subject, parent string) {
	it := &Job{JobArgs: JobArgs{Subscriber: r.subscriber, Key: r.key, Subject: subject, Traceparent: parent}, Seq: seq, Fence: r.epoch}
	r.jobs = append(r.jobs, it)
}

// inOrder sorts the jobs when all are there. What failed before is the first.
func (r *run) inOrder() {
	slices.SortFunc(r.jobs, func(a, b *Job) int { return cmp.Compare(a.Seq, b.Seq) })
	if len(r.jobs) > 0 {
		r.jobs[0].Attempt, r.jobs[0].Since = r.attempt, database.Time(r.since)
	}
}

// margin is how long before its lease a handler must end.
func (n *node) margin() time.Duration { return min(n.o.Lease/8, 5*time.Second) }

// begin loads the jobs of claimed partitions and starts to work on them.
func (n *node) begin(ctx, handling context.Context, runs []*run, deadline time.Time) {
	n.register(handling, runs, deadline)
	if err := n.load(handling, runs); err != nil {
		n.log.WarnContext(ctx, "loading jobs failed", "error", err)
		for _, r := range runs {
			go n.abandon(r, failedWait)
		}
		return
	}
	n.mu.Lock()
	now := n.start(runs)
	n.mu.Unlock()
	for _, r := range now {
		go n.work(r)
	}
}

// register counts the runs in. Their leases are renewed from now on.
func (n *node) register(handling context.Context, runs []*run, deadline time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := time.Now()
	for _, r := range runs {
		c := n.subscribers[r.subscriber]
		if c == nil {
			c = &subscriber{window: min(firstCap, n.o.Cap)}
			n.subscribers[r.subscriber] = c
		}
		c.runs++
		n.working.Add(1)
		n.leased[r.partition] = r
		r.pauses = c.pauses
		r.renewed, r.until = now, deadline.Add(-n.margin())
		r.ctx, r.cancel = context.WithCancelCause(handling)
		r.expire = time.AfterFunc(time.Until(r.until), func() { r.cancel(errLeaseLost) })
	}
}

func (n *node) load(ctx context.Context, runs []*run) error {
	if n.o.Load == nil {
		return nil
	}
	var jobs []*Job
	for _, r := range runs {
		jobs = append(jobs, r.jobs...)
	}
	ctx, cancel := context.WithTimeout(ctx, n.o.Lease/4)
	defer cancel()
	return n.o.Load(ctx, jobs)
}

// work handles the jobs of a run, one after the other, as far as they go.
func (n *node) work(r *run) {
	r.outs = make([]Outcome, 0, len(r.jobs))
	for i, it := range r.jobs {
		if i > 0 && time.Since(r.started) > sliceOfRun || !n.mayHandle(r) {
			break
		}
		out := n.handle(r, *it)
		r.outs = append(r.outs, out)
		if out.Result != Done {
			break
		}
	}
	r.completion = r.completed()
	for _, next := range n.leave(r) {
		go n.work(next)
	}
	n.complete(r)
}

// abandon hands a run back that was not begun.
func (n *node) abandon(r *run, wait time.Duration) {
	r.completion = r.untouched(wait)
	r.end()
	n.complete(r)
}

func (r *run) end() {
	r.expire.Stop()
	r.cancel(nil)
}

// mayHandle is asked before each attempt: the node may have been frozen since
// the last one.
func (n *node) mayHandle(r *run) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := time.Now()
	return !n.stopping && r.ctx.Err() == nil && now.Before(r.until) && n.living(now) &&
		n.subscribers[r.subscriber].pauses == r.pauses
}

// handle makes one attempt.
func (n *node) handle(r *run, it Job) (out Outcome) {
	r.bound(n.o.Timeout)
	defer func() {
		r.unbound()
		if v := recover(); v != nil {
			n.log.ErrorContext(r.ctx, "handler panicked", "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			out = Outcome{Result: Retry, After: backoff(it.Attempt)}
		}
		out.Job = it
	}()
	return n.o.Handle(span.With(r.ctx, it.Traceparent), it)
}

// bound ends the run when the next handler takes too long. The timer is used
// again and again, which costs less than a context for each.
func (r *run) bound(d time.Duration) {
	switch {
	case d == 0:
	case r.limit == nil:
		r.limit = time.AfterFunc(d, func() { r.cancel(errTimeout) })
	default:
		r.limit.Reset(d)
	}
}

func (r *run) unbound() {
	if r.limit != nil {
		r.limit.Stop()
	}
}

// backoff is the wait after a failure that chose none: 1 s, doubled with each
// attempt up to about 4 min.
func backoff(attempt int) time.Duration { return time.Second << min(max(attempt, 0), 8) }

// leave frees the worker and the subscriber's place: the rest is bookkeeping. It
// returns who is to work now.
func (n *node) leave(r *run) []*run {
	r.end()
	n.mu.Lock()
	defer n.mu.Unlock()
	c := n.subscribers[r.subscriber]
	r.left = true
	n.vacate(c, r)
	if r.pause > 0 {
		r.counted = true
		c.pausing++
		c.pauses++
	}
	now := n.next()
	if n.short && !n.tight() {
		n.short = false
		notify(n.claim)
	}
	return now
}
