package queue_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/queue"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// TestProbeIsOldest tries a paused subscriber with its oldest job, time and
// again, although another partition has been ready for longer. What was in hand when
// it was paused is tried once.
func TestProbeIsOldest(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		const partitions = 5
		tried := make(chan string)
		q := newQueue(t, db, queue.Options{Handle: func(ctx context.Context, it queue.Job) queue.Outcome {
			select {
			case tried <- it.Subject:
			case <-ctx.Done():
			}
			return queue.Outcome{Result: queue.OpenCircuit, After: time.Millisecond}
		}, Drain: time.Millisecond})
		for i := range partitions {
			put(t, db, q, queue.JobArgs{Subscriber: "c", Key: fmt.Sprint(i), Subject: fmt.Sprint(partitions - i)})
		}
		start(t, q)
		times := map[string]int{}
		for range 2 * partitions {
			times[<-tried]++
		}
		for i := 2; i <= partitions; i++ {
			require.LessOrEqual(t, times[fmt.Sprint(i)], 1, "%v", times)
		}
	})
}

// TestProbePassesPoison pauses a subscriber that has failed for another reason,
// and always fails on its oldest job: the others show that it is up again.
func TestProbePassesPoison(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		var s sink
		var up, resumed atomic.Bool
		q := newQueue(t, db, queue.Options{Handle: func(_ context.Context, it queue.Job) queue.Outcome {
			if up.Load() && it.Key != "k0" || resumed.Load() {
				s.add(it)
				return queue.Outcome{}
			}
			return queue.Outcome{Result: queue.OpenCircuit, After: time.Millisecond}
		}})
		for n := range 6 {
			put(t, db, q, queue.JobArgs{Subscriber: "c", Key: fmt.Sprint("k", n%3), Subject: fmt.Sprint(n)})
		}
		start(t, q)
		untilStats(t, q, func(s queue.Stats) bool { return s.Paused == 1 })
		up.Store(true)
		s.await(t, 4)
		resumed.Store(true)
		s.await(t, 6)
		for n := range 3 {
			require.Equal(t, []string{fmt.Sprint(n), fmt.Sprint(n + 3)}, s.of(fmt.Sprint("c/k", n)))
		}
	})
}

// TestProbeOfDeadNode lets a node die while it tries a paused subscriber: the
// next one does not wait for its lease.
func TestProbeOfDeadNode(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		for _, exclusive := range []bool{false, true} {
			var s sink
			var up atomic.Bool
			o := queue.Options{Name: fmt.Sprint(exclusive), Exclusive: exclusive, Handle: func(_ context.Context, it queue.Job) queue.Outcome {
				if !up.Load() {
					return queue.Outcome{Result: queue.OpenCircuit, After: time.Hour}
				}
				s.add(it)
				return queue.Outcome{}
			}}
			q := newQueue(t, db, o)
			put(t, db, q, jobArgs("c", 3, 6)...)
			stop := start(t, q)
			untilStats(t, q, func(s queue.Stats) bool { return s.Paused == 1 && s.Leased == 0 })
			stop()
			const later = 9_000_000_000_000_000
			db.MustExec(`INSERT INTO queue_node (id, queue, seen_us) VALUES ($1, $2, 1)`, "dead"+o.Name, o.Name)
			db.MustExec(`UPDATE queue_subscriber SET probe = $1, paused_us = $2 WHERE queue = $3`, "dead"+o.Name, later, o.Name)
			db.MustExec(`UPDATE queue_partition SET holder = $1, ready_us = $2, epoch = epoch + 1 WHERE queue = $3 AND key = 'k1'`,
				"dead"+o.Name, later, o.Name)
			up.Store(true)
			start(t, newQueue(t, db, o))
			s.await(t, 6)
			s.inOrder(t, 3, 2)
		}
	})
}

// TestRejoin pauses a subscriber of which some jobs are on their own: the one
// that nothing has passed goes back to its place, with its attempts.
func TestRejoin(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		var s sink
		var gate sync.RWMutex
		up := false
		isUp := func() bool { gate.RLock(); defer gate.RUnlock(); return up }
		var attempts atomic.Int64
		q := newQueue(t, db, queue.Options{Run: 1, Handle: func(_ context.Context, it queue.Job) queue.Outcome {
			refused := it.Key == "passed" && it.Seq == 1 || it.Key == "held" && it.Seq < 3
			switch {
			case isUp() || it.Key == "passed" && it.Seq == 2:
				s.add(it)
				attempts.Add(int64(it.Attempt))
				return queue.Outcome{}
			case refused:
				return queue.Outcome{Result: queue.Park, After: time.Hour}
			}
			return queue.Outcome{Result: queue.OpenCircuit, After: time.Millisecond}
		}})
		var es []queue.JobArgs
		for n := range 4 {
			for _, key := range []string{"passed", "held"} {
				es = append(es, queue.JobArgs{Subscriber: "c", Key: key, Subject: fmt.Sprint(n + 1)})
			}
		}
		put(t, db, q, es...)
		start(t, q)
		testkit.UntilCommitted(t, db, func() bool {
			gate.Lock() // nothing is tried between the look and what follows from it
			defer gate.Unlock()
			var back bool // by one query: what is in hand may be finished between two
			require.NoError(t, db.Get(&back, `SELECT (SELECT count(*) FROM queue_partition
				WHERE key = 'held' AND parked = 0 AND head = 0 AND attempt > 0 OR key = 'passed' AND parked = 1) = 2
				AND NOT EXISTS (SELECT 1 FROM queue_partition WHERE holder <> '')`))
			up = back && s.count() == 1
			return up
		})
		s.await(t, 7)
		require.Equal(t, []string{"1", "2", "3", "4"}, s.of("c/held"))
		require.Equal(t, []string{"2", "3", "4"}, s.of("c/passed"))
		require.Positive(t, attempts.Load(), "those of what was taken back")
	})
}
