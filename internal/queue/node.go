package queue

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/trunklinehq/trunkline/internal/clockstep"
	"github.com/trunklinehq/trunkline/internal/database"
)

const (
	pollInterval = time.Second            // the longest wait for what others have locked
	idleInterval = 10 * time.Minute       // the longest wait while nothing is due
	failedWait   = time.Second            // after an error of the database
	claimPause   = 2 * time.Millisecond   // between claims, likewise
	maxClaim     = 20 * time.Millisecond  // the same on a machine that is slow
	handBackIn   = 5 * time.Second        // after Drain, for what did not stop
	sliceOfRun   = 100 * time.Millisecond // a run that takes longer is finished as far as it is
	finishAgain  = 100 * time.Millisecond // first wait after a finish that the database refused
)

// node is one [Queue.Run]: the parts that work on the queue, and the id under
// which they hold leases.
type node struct {
	*Queue
	slots     *slots
	claimer   *claimer
	worker    *worker
	completer *completer
	keeper    *keeper
}

func newNode(q *Queue) *node {
	id, claim := rand.Text(), make(chan struct{}, 1)
	s := newSlots(&q.o, claim)
	c := &completer{Queue: q, id: id, claim: claim, slots: s, finished: make(chan *run)}
	w := &worker{Queue: q, slots: s, completer: c}
	k := &keeper{Queue: q, id: id, claim: claim, slots: s, heartbeats: make(chan time.Time, 1)}
	return &node{
		Queue: q, slots: s, worker: w, completer: c, keeper: k,
		claimer: &claimer{
			Queue: q, id: id, claim: claim, slots: s, worker: w, keeper: k,
			orphans: clockstep.Sightings[int64]{Rounds: orphanLooks},
		},
	}
}

// Run works on the queue until ctx ends and what is in hand is finished, or
// handed back to other nodes, for which it takes at most Drain and 5 s. It
// returns nil then, and an error if it could not begin. A queue runs once at a
// time.
func (q *Queue) Run(ctx context.Context) error {
	n := newNode(q)
	if err := n.keeper.joinSoon(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return fmt.Errorf("starting queue %s: %w", q.o.Name, err)
	}
	handling, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	// Leases are renewed until the last of them is finished.
	keeping, stored := context.WithCancel(context.WithoutCancel(ctx))
	n.completer.ended = keeping.Done()
	var keepers sync.WaitGroup
	keepers.Go(func() { n.keeper.maintain(keeping) })
	for range n.finishers() {
		keepers.Go(func() { n.completer.finishAll(keeping) })
	}

	var g errgroup.Group
	g.Go(func() error { n.claimer.claimAll(ctx, handling); return nil })
	g.Go(func() error { n.collectAll(ctx); return nil })
	_ = g.Wait()
	n.drain(stop)
	stored()
	keepers.Wait()
	n.keeper.part(context.WithoutCancel(ctx))
	return nil
}

// finishers is how many transactions finish at a time.
func (n *node) finishers() int {
	if n.db.Dialect == database.SQLite {
		return 1 // there is one writer
	}
	return 2
}

// drain waits for the work in hand, cancels what is left after Drain, and
// hands back what does not even stop then.
func (n *node) drain(stop context.CancelCauseFunc) {
	n.worker.start(n.slots.stop())
	done := make(chan struct{})
	go func() {
		n.slots.working.Wait()
		close(done)
	}()
	cancel := time.AfterFunc(n.o.Drain, func() { stop(errDrained) })
	defer cancel.Stop()
	limit := time.NewTimer(n.o.Drain + handBackIn)
	defer limit.Stop()
	select {
	case <-done:
	case <-limit.C:
		n.log.Warn("handlers did not stop, their work is handed back", "partitions", len(n.slots.partitions()))
	}
}

// notify signals without waiting: one signal that was not seen yet is enough.
func notify(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

// await waits for d, and reports whether ctx continues.
func await(ctx context.Context, d time.Duration) bool { return awaitAny(ctx, nil, nil, d) }

// awaitAny waits for one of two signals, or d, and reports whether ctx continues.
func awaitAny(ctx context.Context, a, b <-chan struct{}, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-a:
	case <-b:
	case <-t.C:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}
