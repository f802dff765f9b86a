package lane_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/lane"
)

// TestPause has a consumer that is down, and one that is not.
func TestPause(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		const wait = 200 * time.Millisecond
		var s sink
		var mu sync.Mutex
		var up atomic.Bool
		var last time.Time
		trials, inFlight := 0, 0
		paused := false
		q := newQueue(t, db, lane.Options{Handle: func(_ context.Context, it lane.Item) lane.Outcome {
			if it.Consumer == "up" || up.Load() {
				s.add(it)
				return lane.Outcome{}
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
				trials++
			}
			if inFlight++; inFlight == 16 { // all of the first claim
				paused = true
			}
			last = time.Now()
			return lane.Outcome{Verdict: lane.Pause, After: wait}
		}, Cap: 16})
		put(t, db, q, entries("down", 40, 200)...)
		put(t, db, q, entries("up", 40, 200)...)
		start(t, q)
		s.await(t, 200)
		eventually(t, func() bool { mu.Lock(); defer mu.Unlock(); return trials >= 3 })
		stats, err := q.Stats(t.Context())
		require.NoError(t, err)
		require.Equal(t, 1, stats.Paused)
		require.EqualValues(t, 200, stats.Ready+stats.Held)
		up.Store(true)
		s.await(t, 400)
		idle(t, q)
		s.inOrder(t, 80, 5)
		stats, err = q.Stats(t.Context())
		require.NoError(t, err)
		require.Zero(t, stats.Paused)
	})
}

// TestTrialIsOne tries a paused consumer with a single item on two nodes, and
// goes on to the next when that one is refused.
func TestTrialIsOne(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		type attempt struct {
			it     lane.Item
			answer chan lane.Outcome
		}
		attempts := make(chan attempt)
		o := lane.Options{Cap: 1, Run: 1, Handle: func(ctx context.Context, it lane.Item) lane.Outcome {
			a := attempt{it, make(chan lane.Outcome)}
			select {
			case attempts <- a:
				return <-a.answer
			case <-ctx.Done():
				return lane.Outcome{Verdict: lane.Yield}
			}
		}, Drain: time.Millisecond}
		q := newQueue(t, db, o)
		put(t, db, q, entries("c", 4, 8)...)
		start(t, q)
		first := <-attempts
		first.answer <- lane.Outcome{Verdict: lane.Pause, After: time.Millisecond}
		trial := <-attempts // one more node, and more room, while the trial is under way
		o.Cap = 16
		other := newQueue(t, db, o)
		start(t, other)
		idleFor(t, attempts, 100*time.Millisecond)
		trial.answer <- lane.Outcome{Verdict: lane.Retry, After: time.Hour}
		second := <-attempts
		require.NotEqual(t, trial.it.Key, second.it.Key)
		idleFor(t, attempts, 100*time.Millisecond)
		second.answer <- lane.Outcome{}
		eventually(t, func() bool { st, err := q.Stats(t.Context()); return err == nil && st.Paused == 0 })
		for range 5 { // whoever claims them: the first node may have all that is left, and do one after the other
			next := <-attempts
			require.NotEqual(t, trial.it.Key, next.it.Key)
			next.answer <- lane.Outcome{}
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
		q := newQueue(t, db, lane.Options{Handle: func(_ context.Context, it lane.Item) (out lane.Outcome) {
			once.Do(func() {
				out = lane.Outcome{Verdict: lane.Pause, After: time.Hour}
				close(tried)
			})
			if out.Verdict == lane.Done {
				s.add(it)
			}
			return out
		}})
		start(t, q)
		put(t, db, q, entries("c", 1, 5)...)
		<-tried
		eventually(t, func() bool { s, err := q.Stats(t.Context()); return err == nil && s.Paused == 1 && s.Held == 0 })
		require.Zero(t, s.count())
		in(t, db, func(tx *sqlx.Tx) error { return q.ResumeTx(t.Context(), tx, "c") })
		q.Committed()
		s.await(t, 5)
		s.inOrder(t, 1, 5)
	})
}

// TestPauseTakenBack has Settle refuse the pause of an attempt that began before
// its consumer was resumed.
func TestPauseTakenBack(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		var s sink
		var once sync.Once
		q := newQueue(t, db, lane.Options{Handle: func(_ context.Context, it lane.Item) (out lane.Outcome) {
			if it.Attempt != 0 {
				t.Error("a pause is no attempt")
			}
			if it.Subject == "3" {
				once.Do(func() { out = lane.Outcome{Verdict: lane.Pause, After: time.Hour} })
			}
			if out.Verdict == lane.Done {
				s.add(it)
			}
			return out
		}, Settle: func(_ context.Context, _ *sqlx.Tx, outs []lane.Outcome) error {
			for i := range outs {
				if outs[i].Verdict == lane.Pause {
					outs[i].Verdict = lane.Yield
				}
			}
			return nil
		}})
		put(t, db, q, entries("c", 2, 10)...)
		start(t, q)
		s.await(t, 10)
		idle(t, q)
		s.inOrder(t, 2, 5)
		stats, err := q.Stats(t.Context())
		require.NoError(t, err)
		require.Zero(t, stats.Paused)
	})
}

// TestCap holds all that a hanging consumer may have in flight, while others
// are served.
func TestCap(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		var s sink
		var hanging, most atomic.Int32
		free := make(chan struct{})
		q := newQueue(t, db, lane.Options{Workers: 12, Cap: 4, Handle: func(_ context.Context, it lane.Item) lane.Outcome {
			if it.Consumer == "hangs" {
				most.Store(max(hanging.Add(1), most.Load()))
				<-free
				hanging.Add(-1)
			}
			s.add(it)
			return lane.Outcome{}
		}})
		put(t, db, q, entries("hangs", 200, 400)...)
		start(t, q)
		eventually(t, func() bool { return hanging.Load() == 4 })
		for i := range 9 {
			put(t, db, q, entries(fmt.Sprintf("c%d", i), 20, 100)...)
		}
		s.await(t, 900)
		require.EqualValues(t, 4, hanging.Load())
		close(free)
		s.await(t, 1300)
		require.EqualValues(t, 4, most.Load())
		idle(t, q)
	})
}

// TestFair shares one worker between a consumer with much work and one that
// comes later with little.
func TestFair(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		var s sink
		q := newQueue(t, db, lane.Options{Workers: 1, Run: 1, Handle: done(&s)})
		put(t, db, q, entries("a", 300, 300)...)
		put(t, db, q, entries("b", 3, 3)...)
		put(t, db, q, entries("c", 3, 3)...)
		order := make(chan string, 400)
		q2 := newQueue(t, db, lane.Options{Workers: 1, Run: 1, Handle: func(_ context.Context, it lane.Item) lane.Outcome {
			order <- it.Consumer
			return lane.Outcome{}
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

// TestManyConsumers has more of them than one look takes in.
func TestManyConsumers(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		var s sink
		block := make(chan struct{})
		q := newQueue(t, db, lane.Options{Workers: 2000, Handle: func(_ context.Context, it lane.Item) lane.Outcome {
			<-block
			s.add(it)
			return lane.Outcome{}
		}})
		var es []lane.Entry
		for i := range 1500 {
			es = append(es, lane.Entry{Consumer: fmt.Sprintf("c%04d", i), Key: "k", Subject: "1"})
		}
		put(t, db, q, es...)
		start(t, q)
		eventually(t, func() bool { s, err := q.Stats(t.Context()); return err == nil && s.Held == 1500 })
		close(block)
		s.await(t, 1500)
		idle(t, q)
		s.inOrder(t, 1500, 1)
	})
}

// TestDrop deletes a consumer whose work is queued, routed and in hand.
func TestDrop(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		var s sink
		held, free := make(chan struct{}, 400), make(chan struct{})
		q := newQueue(t, db, lane.Options{Logger: quiet, Handle: func(_ context.Context, it lane.Item) lane.Outcome {
			if it.Consumer == "gone" {
				held <- struct{}{}
				<-free
			}
			s.add(it)
			return lane.Outcome{}
		}, Settle: func(_ context.Context, _ *sqlx.Tx, outs []lane.Outcome) error {
			for _, out := range outs {
				if out.Item.Consumer == "gone" {
					t.Error("a dropped consumer's outcome was recorded")
				}
			}
			return nil
		}})
		put(t, db, q, entries("gone", 30, 300)...)
		put(t, db, q, entries("stays", 30, 300)...)
		start(t, q)
		<-held
		in(t, db, func(tx *sqlx.Tx) error {
			if err := q.PutTx(t.Context(), tx, entries("gone", 3, 3)...); err != nil {
				return err
			}
			return q.DropTx(t.Context(), tx, "gone")
		})
		q.Committed()
		close(free)
		eventually(t, func() bool { s, err := q.Stats(t.Context()); return err == nil && s.Fenced > 0 })
		idle(t, q)
		require.Len(t, s.of("stays/k0"), 10)
		for _, table := range []string{"lane_lane", "lane_outbox", "lane_consumer"} {
			var n int
			require.NoError(t, db.Get(&n, `SELECT count(*) FROM `+table+` WHERE consumer = 'gone'`))
			require.Zero(t, n)
		}
		var n int
		require.NoError(t, db.Get(&n, `SELECT count(*) FROM lane_item`))
		require.Zero(t, n)
	})
}

// TestServes works only for the consumers that the node serves at present.
func TestServes(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		var s sink
		var both atomic.Bool
		q := newQueue(t, db, lane.Options{
			Serves: func(consumer string) bool { return consumer == "here" || both.Load() },
			Handle: func(_ context.Context, it lane.Item) lane.Outcome { s.add(it); return lane.Outcome{} },
		})
		put(t, db, q, entries("elsewhere", 2, 10)...)
		put(t, db, q, entries("here", 2, 10)...)
		start(t, q)
		s.await(t, 10)
		require.Empty(t, s.of("elsewhere/k0"))
		stats, err := q.Stats(t.Context())
		require.NoError(t, err)
		require.EqualValues(t, 10, stats.Ready)
		both.Store(true)
		q.Committed()
		s.await(t, 20)
		s.inOrder(t, 4, 5)
	})
}
