package queue_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/queue"
	"github.com/trunklinehq/trunkline/internal/testsignal"
)

// TestSlow has attempts that hang occupy every worker: they give them up, and
// what was claimed ahead is neither lost nor out of order.
func TestSlow(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		var s sink
		var hanging atomic.Int32
		var hangs testsignal.Signal
		free := make(chan struct{})
		q := newQueue(t, db, queue.Options{Workers: 2, Handle: func(_ context.Context, it queue.Job) queue.Outcome {
			if it.Subscriber == "hangs" {
				hanging.Add(1)
				hangs.Send()
				<-free
			}
			s.add(it)
			return queue.Outcome{}
		}})
		put(t, db, q, jobArgs("hangs", 10, 100)...)
		start(t, q)
		until(t, &hangs, func() bool { return hanging.Load() >= 2 })
		put(t, db, q, jobArgs("c", 20, 200)...)
		s.await(t, 200)
		close(free)
		s.await(t, 300)
		s.inOrder(t, 30, 10)
		idle(t, q)
	})
}

// TestStopAhead stops a node with more to do than it can work on: no more is
// begun, and another node has the rest.
func TestStopAhead(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		const workers = 4
		const limit = workers * (1 + 4) // on a slow machine attempts are taken for slow, and others begin
		var s sink
		free := make(chan struct{})
		started := make(chan struct{}, 200)
		q := newQueue(t, db, queue.Options{Workers: workers, Handle: func(_ context.Context, it queue.Job) queue.Outcome {
			started <- struct{}{}
			<-free
			s.add(it)
			return queue.Outcome{}
		}})
		put(t, db, q, jobArgs("c", 100, 100)...)
		stop := start(t, q)
		for range workers {
			<-started
		}
		stopped := make(chan struct{})
		go func() { stop(); close(stopped) }()
		untilStats(t, q, func(s queue.Stats) bool { return s.Leased <= limit })
		close(free)
		<-stopped
		require.LessOrEqual(t, s.count(), limit)
		start(t, q)
		s.await(t, 100)
		idle(t, q)
	})
}
