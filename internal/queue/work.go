package lane

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
	errLeaseLost = errors.New("lane: the lease has ended")
	errDrained   = errors.New("lane: the node stops")
	errTimeout   = fmt.Errorf("lane: the handler took too long: %w", context.DeadlineExceeded)
)

// run is a claimed lane and the items taken with it.
type run struct {
	lane, epoch   int64
	consumer, key string
	detached      int64
	head, tail    int64
	attempt       int
	since         int64
	trial         bool // of a paused consumer
	items         []*Item
	pauses        int // of the consumer when it was claimed
	ctx           context.Context
	cancel        context.CancelCauseFunc
	expire        *time.Timer
	limit         *time.Timer // of the handler at work
	until         time.Time   // the handler must end before; mu of the node
	renewed       time.Time   // when the lease was last known to be taken; mu of the node
	outs          []Outcome
	settlement                  // what outs mean
	counted       bool          // in the pausing of its consumer
	begun         time.Time     // when it got a worker; mu of the node
	slow          bool          // it gave the worker away since; mu of the node
	left          bool          // it has handled what it could; mu of the node
	again         time.Duration // the last wait before finishing it again
}

func (r *run) add(seq int64, subject, parent string) {
	it := &Item{Entry: Entry{Consumer: r.consumer, Key: r.key, Subject: subject, Traceparent: parent}, Seq: seq, Fence: r.epoch}
	r.items = append(r.items, it)
}

// inOrder sorts the items when all are there. What failed before is the first.
func (r *run) inOrder() {
	slices.SortFunc(r.items, func(a, b *Item) int { return cmp.Compare(a.Seq, b.Seq) })
	if len(r.items) > 0 {
		r.items[0].Attempt, r.items[0].Since = r.attempt, database.Time(r.since)
	}
}

// margin is how long before its lease a handler must end.
func (n *node) margin() time.Duration { return min(n.o.Lease/8, 5*time.Second) }

// begin loads the items of claimed lanes and starts to work on them.
func (n *node) begin(ctx, handling context.Context, runs []*run, deadline time.Time) {
	n.admit(handling, runs, deadline)
	if err := n.load(handling, runs); err != nil {
		n.log.WarnContext(ctx, "loading items failed", "error", err)
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

// admit counts the runs in. Their leases are renewed from now on.
func (n *node) admit(handling context.Context, runs []*run, deadline time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := time.Now()
	for _, r := range runs {
		c := n.consumers[r.consumer]
		if c == nil {
			c = &consumer{window: min(firstCap, n.o.Cap)}
			n.consumers[r.consumer] = c
		}
		c.runs++
		n.working.Add(1)
		n.held[r.lane] = r
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
	var items []*Item
	for _, r := range runs {
		items = append(items, r.items...)
	}
	ctx, cancel := context.WithTimeout(ctx, n.o.Lease/4)
	defer cancel()
	return n.o.Load(ctx, items)
}

// work handles the items of a run, one after the other, as far as they go.
func (n *node) work(r *run) {
	r.outs = make([]Outcome, 0, len(r.items))
	for i, it := range r.items {
		if i > 0 && time.Since(r.begun) > sliceOfRun || !n.mayHandle(r) {
			break
		}
		out := n.handle(r, *it)
		r.outs = append(r.outs, out)
		if out.Verdict != Done {
			break
		}
	}
	r.settlement = r.settled()
	for _, next := range n.leave(r) {
		go n.work(next)
	}
	n.settle(r)
}

// abandon hands a run back that was not begun.
func (n *node) abandon(r *run, wait time.Duration) {
	r.settlement = r.untouched(wait)
	r.end()
	n.settle(r)
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
		n.consumers[r.consumer].pauses == r.pauses
}

// handle makes one attempt.
func (n *node) handle(r *run, it Item) (out Outcome) {
	r.bound(n.o.Timeout)
	defer func() {
		r.unbound()
		if v := recover(); v != nil {
			n.log.ErrorContext(r.ctx, "handler panicked", "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			out = Outcome{Verdict: Retry, After: backoff(it.Attempt)}
		}
		out.Item = it
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

// leave frees the worker and the consumer's place: the rest is bookkeeping. It
// returns who is to work now.
func (n *node) leave(r *run) []*run {
	r.end()
	n.mu.Lock()
	defer n.mu.Unlock()
	c := n.consumers[r.consumer]
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
		poke(n.claim)
	}
	return now
}
