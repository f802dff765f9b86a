package queue_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/queue"
	"github.com/trunklinehq/trunkline/internal/testsignal"
)

// TestPause has a subscriber that is down, and one that is not.
func TestPause(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		const wait = 200 * time.Millisecond
		var s sink
		var mu sync.Mutex
		var up atomic.Bool
		var last time.Time
		var probed testsignal.Signal
		probes, inFlight := 0, 0
		paused := false
		q := newQueue(t, db, queue.Options{Handle: func(_ context.Context, it queue.Job) queue.Outcome {
			if it.Subscriber == "up" || up.Load() {
				s.add(it)
				return queue.Outcome{}
			}
			mu.Lock()
			defer mu.Unlock()
			if it.Attempt != 0 {
				t.Error("a pause is no attempt")
			}
			if paused && time.Since(last) < wait {
				t.Errorf("tried %s after the pause began", time.Since(last))
			}
			if paused {
				probes++
				probed.Send()
			}
			if inFlight++; inFlight == 16 { // all of the first claim
				paused = true
			}
			last = time.Now()
			return queue.Outcome{Result: queue.OpenCircuit, After: wait}
		}, Cap: 16})
		put(t, db, q, jobArgs("down", 40, 200)...)
		put(t, db, q, jobArgs("up", 40, 200)...)
		start(t, q)
		s.await(t, 200)
		until(t, &probed, func() bool { mu.Lock(); defer mu.Unlock(); return probes >= 3 })
		stats, err := q.Stats(t.Context())
		require.NoError(t, err)
		require.Equal(t, 1, stats.Paused)
		require.EqualValues(t, 200, stats.Ready+stats.Leased)
		up.Store(true)
		s.await(t, 400)
		idle(t, q)
		s.inOrder(t, 80, 5)
		stats, err = q.Stats(t.Context())
		require.NoError(t, err)
		require.Zero(t, stats.Paused)
	})
}

// TestProbeIsOne tries a paused subscriber with a single job on two nodes, and
// continues to the next when that one is refused.
func TestProbeIsOne(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		type attempt struct {
			it     queue.Job
			answer chan queue.Outcome
		}
		attempts := make(chan attempt)
		o := queue.Options{Cap: 1, Run: 1, Handle: func(ctx context.Context, it queue.Job) queue.Outcome {
			a := attempt{it, make(chan queue.Outcome)}
			select {
			case attempts <- a:
				return <-a.answer
			case <-ctx.Done():
				return queue.Outcome{Result: queue.Snooze}
			}
		}, Drain: time.Millisecond}
		q := newQueue(t, db, o)
		put(t, db, q, jobArgs("c", 4, 8)...)
		start(t, q)
		first := <-attempts
		first.answer <- queue.Outcome{Result: queue.OpenCircuit, After: time.Millisecond}
		probe := <-attempts // one more node, and more room, while the probe is under way
		o.Cap = 16
		other := newQueue(t, db, o)
		start(t, other)
		idleFor(t, attempts, 100*time.Millisecond)
		probe.answer <- queue.Outcome{Result: queue.Retry, After: time.Hour}
		second := <-attempts
		require.NotEqual(t, probe.it.Key, second.it.Key)
		idleFor(t, attempts, 100*time.Millisecond)
		second.answer <- queue.Outcome{}
		untilStats(t, q, func(s queue.Stats) bool { return s.Paused == 0 })
		for range 5 { // whoever claims them: the first node may have all that is left, and do one after the other
			next := <-attempts
			require.NotEqual(t, probe.it.Key, next.it.Key)
			next.answer <- queue.Outcome{}
		}
	})
}

// idleFor requires that nothing comes for a while.
func idleFor[T any](t *testing.T, ch <-chan T, d time.Duration) {
	t.Helper()
	select {
	case v := <-ch:
		require.Failf(t, "unexpected", "%v", v)
	case <-time.After(d):
	}
}

func TestResume(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		var s sink
		var once sync.Once
		tried := make(chan struct{})
		q := newQueue(t, db, queue.Options{Handle: func(_ context.Context, it queue.Job) (out queue.Outcome) {
			once.Do(func() {
				out = queue.Outcome{Result: queue.OpenCircuit, After: time.Hour}
				close(tried)
			})
			if out.Result == queue.Done {
				s.add(it)
			}
			return out
		}})
		start(t, q)
		put(t, db, q, jobArgs("c", 1, 5)...)
		<-tried
		untilStats(t, q, func(s queue.Stats) bool { return s.Paused == 1 && s.Leased == 0 })
		require.Zero(t, s.count())
		in(t, db, func(tx *database.Tx) error { return q.ResumeTx(t.Context(), tx, "c") })
		q.Notify()
		s.await(t, 5)
		s.inOrder(t, 1, 5)
	})
}

// TestPauseTakenBack has Complete refuse the pause of an attempt that began before
// its subscriber was resumed.
func TestPauseTakenBack(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		var s sink
		var once sync.Once
		q := newQueue(t, db, queue.Options{Handle: func(_ context.Context, it queue.Job) (out queue.Outcome) {
			if it.Attempt != 0 {
				t.Error("a pause is no attempt")
			}
			if it.Subject == "3" {
				once.Do(func() { out = queue.Outcome{Result: queue.OpenCircuit, After: time.Hour} })
			}
			if out.Result == queue.Done {
				s.add(it)
			}
			return out
		}, Complete: func(_ context.Context, _ *database.Tx, outs []queue.Outcome) error {
			for i := range outs {
				if outs[i].Result == queue.OpenCircuit {
					outs[i].Result = queue.Snooze
				}
			}
			return nil
		}})
		put(t, db, q, jobArgs("c", 2, 10)...)
		start(t, q)
		s.await(t, 10)
		idle(t, q)
		s.inOrder(t, 2, 5)
		stats, err := q.Stats(t.Context())
		require.NoError(t, err)
		require.Zero(t, stats.Paused)
	})
}

// TestCap holds all that a hanging subscriber may have in flight, while others
// are served.
func TestCap(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		var s sink
		var hanging, limit atomic.Int32
		var hangs testsignal.Signal
		free := make(chan struct{})
		q := newQueue(t, db, queue.Options{Workers: 12, Cap: 4, Handle: func(_ context.Context, it queue.Job) queue.Outcome {
			if it.Subscriber == "hangs" {
				limit.Store(max(hanging.Add(1), limit.Load()))
				hangs.Send()
				<-free
				hanging.Add(-1)
			}
			s.add(it)
			return queue.Outcome{}
		}})
		put(t, db, q, jobArgs("hangs", 200, 400)...)
		start(t, q)
		until(t, &hangs, func() bool { return hanging.Load() == 4 })
		for i := range 9 {
			put(t, db, q, jobArgs(fmt.Sprintf("c%d", i), 20, 100)...)
		}
		s.await(t, 900)
		require.EqualValues(t, 4, hanging.Load())
		close(free)
		s.await(t, 1300)
		require.EqualValues(t, 4, limit.Load())
		idle(t, q)
	})
}

// TestFair shares one worker between a subscriber with much work and one that
// comes later with little.
func TestFair(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		var s sink
		q := newQueue(t, db, queue.Options{Workers: 1, Run: 1, Handle: done(&s)})
		put(t, db, q, jobArgs("a", 300, 300)...)
		put(t, db, q, jobArgs("b", 3, 3)...)
		put(t, db, q, jobArgs("c", 3, 3)...)
		order := make(chan string, 400)
		q2 := newQueue(t, db, queue.Options{Workers: 1, Run: 1, Handle: func(_ context.Context, it queue.Job) queue.Outcome {
			order <- it.Subscriber
			return queue.Outcome{}
		}})
		start(t, q2)
		got := map[string]int{}
		for range 12 {
			got[<-order]++
		}
		require.Equal(t, 3, got["b"])
		require.Equal(t, 3, got["c"])
		idle(t, q)
	})
}

// TestManySubscribers has more of them than one look takes in.
func TestManySubscribers(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		var s sink
		block := make(chan struct{})
		q := newQueue(t, db, queue.Options{Workers: 2000, Handle: func(_ context.Context, it queue.Job) queue.Outcome {
			<-block
			s.add(it)
			return queue.Outcome{}
		}})
		var es []queue.JobArgs
		for i := range 1500 {
			es = append(es, queue.JobArgs{Subscriber: fmt.Sprintf("c%04d", i), Key: "k", Subject: "1"})
		}
		put(t, db, q, es...)
		start(t, q)
		untilStats(t, q, func(s queue.Stats) bool { return s.Leased == 1500 })
		close(block)
		s.await(t, 1500)
		idle(t, q)
		s.inOrder(t, 1500, 1)
	})
}

// TestDrop deletes a subscriber whose work is queued, routed and in hand.
func TestDrop(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		db.MustExec(`CREATE TABLE recorded (subscriber TEXT NOT NULL)`)
		var s sink
		var log logSignal
		leased, free := make(chan struct{}, 400), make(chan struct{})
		q := newQueue(t, db, queue.Options{Logger: slog.New(&log), Handle: func(_ context.Context, it queue.Job) queue.Outcome {
			if it.Subscriber == "gone" {
				leased <- struct{}{}
				<-free
			}
			s.add(it)
			return queue.Outcome{}
		}, Complete: func(ctx context.Context, tx *database.Tx, outs []queue.Outcome) error {
			for _, out := range outs {
				if _, err := tx.ExecContext(ctx, `INSERT INTO recorded (subscriber) VALUES ($1)`, out.Job.Subscriber); err != nil {
					return err
				}
			}
			return nil
		}})
		put(t, db, q, jobArgs("gone", 30, 300)...)
		put(t, db, q, jobArgs("stays", 30, 300)...)
		start(t, q)
		<-leased
		in(t, db, func(tx *database.Tx) error {
			if err := q.PutTx(t.Context(), tx, jobArgs("gone", 3, 3)...); err != nil {
				return err
			}
			return q.DropTx(t.Context(), tx, "gone")
		})
		q.Notify()
		close(free)
		until(t, &log.Signal, func() bool { return q.Fenced() > 0 })
		idle(t, q)
		require.Len(t, s.of("stays/k0"), 10)
		for _, table := range []string{"queue_partition", "queue_review", "queue_subscriber"} {
			var n int
			require.NoError(t, db.Get(&n, `SELECT count(*) FROM `+table+` WHERE subscriber = 'gone'`))
			require.Zero(t, n)
		}
		var n int
		require.NoError(t, db.Get(&n, `SELECT count(*) FROM queue_job`))
		require.Zero(t, n)
		require.NoError(t, db.Get(&n, `SELECT count(*) FROM recorded WHERE subscriber = 'gone'`))
		require.Zero(t, n)
	})
}

// TestServes works only for the subscribers that the node serves at present.
func TestServes(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		var s sink
		var both atomic.Bool
		q := newQueue(t, db, queue.Options{
			Serves: func(subscriber string) bool { return subscriber == "here" || both.Load() },
			Handle: func(_ context.Context, it queue.Job) queue.Outcome { s.add(it); return queue.Outcome{} },
		})
		put(t, db, q, jobArgs("elsewhere", 2, 10)...)
		put(t, db, q, jobArgs("here", 2, 10)...)
		start(t, q)
		s.await(t, 10)
		require.Empty(t, s.of("elsewhere/k0"))
		stats, err := q.Stats(t.Context())
		require.NoError(t, err)
		require.EqualValues(t, 10, stats.Ready)
		both.Store(true)
		q.Notify()
		s.await(t, 20)
		s.inOrder(t, 4, 5)
	})
}
