package lane_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/lane"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// each runs fn in parallel on both databases.
func each(t *testing.T, fn func(t *testing.T, db *sqlx.DB)) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		t.Parallel()
		fn(t, db)
	})
}

func TestNew(t *testing.T) {
	t.Parallel()
	db := testkit.Open(t, testkit.SQLiteURL(t))
	_, err := lane.New(t.Context(), db, lane.Options{Handle: done(&sink{})})
	require.Error(t, err)
	_, err = lane.New(t.Context(), db, lane.Options{Name: "q"})
	require.Error(t, err)
}

// TestOrder puts before and while the queue runs, and sees everything once.
func TestOrder(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		var s sink
		q := newQueue(t, db, lane.Options{Handle: done(&s)})
		const keys, n = 40, 50
		es := entries("c", keys, keys*n)
		put(t, db, q, es[:500]...)
		start(t, q)
		for part := range slices.Chunk(es[500:], 7) {
			put(t, db, q, part...)
		}
		s.await(t, keys*n)
		idle(t, q)
		s.inOrder(t, keys, n)
		var items int
		require.NoError(t, db.Get(&items, `SELECT count(*) FROM lane_item`))
		require.Zero(t, items)
	})
}

// TestOrderUnderFailures retries and panics at random.
func TestOrderUnderFailures(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		var s sink
		var mu sync.Mutex
		tries := map[string]int{}
		since := map[string]time.Time{}
		panics := 0
		q := newQueue(t, db, lane.Options{Logger: quiet, Handle: func(_ context.Context, it lane.Item) lane.Outcome {
			mu.Lock()
			defer mu.Unlock()
			k := it.Key + "/" + it.Subject
			if it.Attempt != tries[k] {
				t.Errorf("attempt %d of %s, want %d", it.Attempt, k, tries[k])
			}
			if it.Since.IsZero() != (it.Attempt == 0) || it.Attempt > 1 && !it.Since.Equal(since[k]) {
				t.Errorf("since %s of attempt %d", it.Since, it.Attempt)
			}
			since[k] = it.Since
			if it.Attempt < 3 && rand.IntN(3) == 0 {
				tries[k]++
				if panics < 2 && it.Attempt == 0 {
					panics++
					panic("test")
				}
				return lane.Outcome{Verdict: lane.Retry, After: time.Duration(rand.IntN(20)) * time.Millisecond}
			}
			s.add(it)
			return lane.Outcome{}
		}})
		start(t, q)
		put(t, db, q, entries("c", 10, 300)...)
		s.await(t, 300)
		idle(t, q)
		s.inOrder(t, 10, 30)
	})
}

// TestRoute fans entries out, mixed with some that name their consumer.
func TestRoute(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		var s sink
		q := newQueue(t, db, lane.Options{
			Handle: done(&s),
			Route: func(_ context.Context, _ *sqlx.Tx, es []lane.Entry) (out []lane.Entry, err error) {
				for _, e := range es {
					for _, c := range []string{"a", "b"} {
						e.Consumer = c
						out = append(out, e)
					}
				}
				return out, nil
			},
		})
		var es []lane.Entry
		for i := range 30 {
			e := lane.Entry{Key: "k", Subject: fmt.Sprint(i + 1)}
			if i%5 == 3 {
				e.Consumer = "a"
			}
			es = append(es, e)
		}
		put(t, db, q, es...)
		start(t, q)
		s.await(t, 54)
		idle(t, q)
		require.Len(t, s.of("a/k"), 30)
		require.Len(t, s.of("b/k"), 24)
		s.mu.Lock()
		delete(s.seen, "b/k")
		s.mu.Unlock()
		s.inOrder(t, 1, 30)
	})
}

func TestRouteFails(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		var s sink
		fails := 2
		q := newQueue(t, db, lane.Options{
			Logger: quiet, Handle: done(&s),
			Route: func(_ context.Context, _ *sqlx.Tx, es []lane.Entry) ([]lane.Entry, error) {
				switch fails--; fails {
				case 1:
					return nil, errors.New("test")
				case 0:
					return es, nil // for nobody
				}
				es[0].Consumer = "a"
				return es, nil
			},
		})
		put(t, db, q, lane.Entry{Key: "k", Subject: "1"})
		start(t, q)
		s.await(t, 1)
		require.Equal(t, []string{"1"}, s.of("a/k"))
	})
}

func TestPutTx(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		q := newQueue(t, db, lane.Options{Handle: done(&sink{})})
		tx := db.MustBegin()
		require.NoError(t, q.PutTx(t.Context(), tx, entries("c", 7, 2500)...))
		require.ErrorContains(t, q.PutTx(t.Context(), tx, lane.Entry{Key: "k"}), "no consumer")
		require.NoError(t, tx.Rollback())
		s, err := q.Stats(t.Context())
		require.NoError(t, err)
		require.Zero(t, s.Unrouted, "rolled back")
		put(t, db, q)
		put(t, db, q, entries("c", 7, 2500)...)
		s, err = q.Stats(t.Context())
		require.NoError(t, err)
		require.EqualValues(t, 2500, s.Unrouted)
	})
}

// TestLateCommit commits an entry after a later one of another key was routed.
func TestLateCommit(t *testing.T) {
	t.Parallel()
	url := testkit.PostgresURL(t)
	db := testkit.Open(t, url)
	var s sink
	q := newQueue(t, db, lane.Options{Handle: done(&s)})
	start(t, q)
	late := db.MustBegin()
	require.NoError(t, q.PutTx(t.Context(), late, lane.Entry{Consumer: "c", Key: "late", Subject: "1"}))
	put(t, db, q, lane.Entry{Consumer: "c", Key: "early", Subject: "1"})
	s.await(t, 1)
	idle(t, q)
	require.NoError(t, late.Commit())
	q.Committed()
	s.await(t, 2)
	require.Equal(t, []string{"1"}, s.of("c/late"))
}

// TestNamesApart has two queues in one database.
func TestNamesApart(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		var a, b sink
		qa := newQueue(t, db, lane.Options{Name: "a", Handle: done(&a)})
		qb := newQueue(t, db, lane.Options{Name: "b", Handle: done(&b)})
		put(t, db, qa, entries("c", 3, 30)...)
		put(t, db, qb, entries("c", 3, 60)...)
		start(t, qa)
		start(t, qb)
		idle(t, qa)
		idle(t, qb)
		a.inOrder(t, 3, 10)
		b.inOrder(t, 3, 20)
	})
}

// TestDetach lets the head of a lane fail on its own.
func TestDetach(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		var s sink
		var mu sync.Mutex
		var tries []lane.Item
		q := newQueue(t, db, lane.Options{Handle: func(_ context.Context, it lane.Item) lane.Outcome {
			if it.Subject != "3" {
				s.add(it)
				return lane.Outcome{}
			}
			mu.Lock()
			defer mu.Unlock()
			tries = append(tries, it)
			switch len(tries) {
			case 1:
				return lane.Outcome{Verdict: lane.Retry, After: time.Millisecond}
			case 2:
				return lane.Outcome{Verdict: lane.Detach, After: time.Millisecond}
			}
			if s.count() < 5 { // it is alone, and waits for the others
				return lane.Outcome{Verdict: lane.Detach, After: 10 * time.Millisecond}
			}
			s.add(it)
			return lane.Outcome{}
		}})
		start(t, q)
		put(t, db, q, entries("c", 1, 6)...)
		s.await(t, 6)
		idle(t, q)
		require.Equal(t, []string{"1", "2", "4", "5", "6", "3"}, s.of("c/k0"))
		for i, it := range tries {
			require.Equal(t, i, it.Attempt)
			require.EqualValues(t, 3, it.Seq)
			require.Equal(t, "k0", it.Key)
			if i > 0 {
				require.Equal(t, tries[1].Since, it.Since)
			}
		}
		var lanes int
		require.NoError(t, db.Get(&lanes, `SELECT count(*) FROM lane_lane`))
		require.Equal(t, 1, lanes, "a detached item's lane goes with it")
	})
}

// TestSeq counts on in a lane that was idle.
func TestSeq(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		seqs := make(chan int64, 10)
		q := newQueue(t, db, lane.Options{Handle: func(_ context.Context, it lane.Item) lane.Outcome {
			seqs <- it.Seq
			return lane.Outcome{}
		}})
		start(t, q)
		for want := range 5 {
			put(t, db, q, lane.Entry{Consumer: "c", Key: "k", Subject: "s"})
			require.EqualValues(t, want+1, <-seqs)
			idle(t, q)
		}
	})
}

// TestIDsNotReused empties the tables of SQLite, which would then count from 1
// again, and a lane or an entry would be taken for one that is gone.
func TestIDsNotReused(t *testing.T) {
	t.Parallel()
	db := testkit.Open(t, testkit.SQLiteURL(t))
	var s sink
	q := newQueue(t, db, lane.Options{Handle: done(&s)})
	ids := func() (box, lanes int) {
		put(t, db, q, lane.Entry{Consumer: "c", Key: "k", Subject: "s"})
		require.NoError(t, db.Get(&box, `SELECT max(id) FROM lane_outbox`))
		stop := start(t, q)
		idle(t, q)
		stop()
		require.NoError(t, db.Get(&lanes, `SELECT max(id) FROM lane_lane`))
		in(t, db, func(tx *sqlx.Tx) error { return q.DropTx(t.Context(), tx, "c") })
		return box, lanes
	}
	box, lanes := ids()
	again, lanesAgain := ids()
	require.Greater(t, again, box)
	require.Greater(t, lanesAgain, lanes)
}

// TestCollect deletes a lane that was idle for 91 days, and no other.
func TestCollect(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		var s sink
		q := newQueue(t, db, lane.Options{Handle: done(&s)})
		stop := start(t, q)
		put(t, db, q, entries("c", 3, 3)...)
		idle(t, q)
		stop()
		age := (91 * 24 * time.Hour).Microseconds()
		db.MustExec(`UPDATE lane_lane SET since_us = since_us - $1 WHERE key <> 'k0'`, age)
		in(t, db, func(tx *sqlx.Tx) error { return q.PutTx(t.Context(), tx, entries("c", 1, 1)...) })
		db.MustExec(`UPDATE lane_lane SET ready_us = 1, tail = tail + 1 WHERE key = 'k1'`) // has work, however old
		db.MustExec(`INSERT INTO lane_item (lane_id, seq, subject) SELECT id, tail, 's' FROM lane_lane WHERE key = 'k1'`)
		start(t, q)
		eventually(t, func() bool {
			var keys []string
			require.NoError(t, db.Select(&keys, `SELECT key FROM lane_lane ORDER BY key`))
			return strings.Join(keys, ",") == "k0,k1"
		})
		idle(t, q)
	})
}
