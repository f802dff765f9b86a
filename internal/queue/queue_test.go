package queue_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/queue"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// each runs fn in parallel on both databases.
func each(t *testing.T, fn func(t *testing.T, db *sqlx.DB)) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		fn(t, db)
	})
}

func TestNew(t *testing.T) {
	t.Parallel()
	db := testkit.Open(t, testkit.SQLiteURL(t))
	_, err := queue.New(t.Context(), db, queue.Options{Handle: done(&sink{})})
	require.Error(t, err)
	_, err = queue.New(t.Context(), db, queue.Options{Name: "q"})
	require.Error(t, err)
}

// TestOrder puts before and while the queue runs, and sees everything once.
func TestOrder(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		var s sink
		q := newQueue(t, db, queue.Options{Handle: done(&s)})
		const keys, n = 40, 50
		es := jobArgs("c", keys, keys*n)
		put(t, db, q, es[:500]...)
		start(t, q)
		for part := range slices.Chunk(es[500:], 7) {
			put(t, db, q, part...)
		}
		s.await(t, keys*n)
		idle(t, q)
		s.inOrder(t, keys, n)
		var jobs int
		require.NoError(t, db.Get(&jobs, `SELECT count(*) FROM queue_job`))
		require.Zero(t, jobs)
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
		q := newQueue(t, db, queue.Options{Logger: quiet, Handle: func(_ context.Context, it queue.Job) queue.Outcome {
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
				return queue.Outcome{Result: queue.Retry, After: time.Duration(rand.IntN(20)) * time.Millisecond}
			}
			s.add(it)
			return queue.Outcome{}
		}})
		start(t, q)
		put(t, db, q, jobArgs("c", 10, 300)...)
		s.await(t, 300)
		idle(t, q)
		s.inOrder(t, 10, 30)
	})
}

func TestPutTx(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		q := newQueue(t, db, queue.Options{Handle: done(&sink{})})
		tx := db.MustBegin()
		require.NoError(t, q.PutTx(t.Context(), tx, jobArgs("c", 7, 2500)...))
		require.ErrorContains(t, q.PutTx(t.Context(), tx, queue.JobArgs{Key: "k"}), "no subscriber")
		require.NoError(t, tx.Rollback())
		s, err := q.Stats(t.Context())
		require.NoError(t, err)
		require.Zero(t, s.Ready, "rolled back")
		put(t, db, q)
		put(t, db, q, jobArgs("c", 7, 2500)...)
		s, err = q.Stats(t.Context())
		require.NoError(t, err)
		require.EqualValues(t, 2500, s.Ready)
	})
}

// TestLateCommit commits a job after a later one of another key.
func TestLateCommit(t *testing.T) {
	t.Parallel()
	url := testkit.PostgresURL(t)
	db := testkit.Open(t, url)
	var s sink
	q := newQueue(t, db, queue.Options{Handle: done(&s)})
	start(t, q)
	late := db.MustBegin()
	require.NoError(t, q.PutTx(t.Context(), late, queue.JobArgs{Subscriber: "c", Key: "late", Subject: "1"}))
	put(t, db, q, queue.JobArgs{Subscriber: "c", Key: "early", Subject: "1"})
	s.await(t, 1)
	idle(t, q)
	require.NoError(t, late.Commit())
	q.Notify()
	s.await(t, 2)
	require.Equal(t, []string{"1"}, s.of("c/late"))
}

// TestNamesApart has two queues in one database.
func TestNamesApart(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		var a, b sink
		qa := newQueue(t, db, queue.Options{Name: "a", Handle: done(&a)})
		qb := newQueue(t, db, queue.Options{Name: "b", Handle: done(&b)})
		put(t, db, qa, jobArgs("c", 3, 30)...)
		put(t, db, qb, jobArgs("c", 3, 60)...)
		start(t, qa)
		start(t, qb)
		idle(t, qa)
		idle(t, qb)
		a.inOrder(t, 3, 10)
		b.inOrder(t, 3, 20)
	})
}

// TestPark lets the head of a partition fail on its own.
func TestPark(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		var s sink
		var mu sync.Mutex
		var tries []queue.Job
		q := newQueue(t, db, queue.Options{Handle: func(_ context.Context, it queue.Job) queue.Outcome {
			if it.Subject != "3" {
				s.add(it)
				return queue.Outcome{}
			}
			mu.Lock()
			defer mu.Unlock()
			tries = append(tries, it)
			switch len(tries) {
			case 1:
				return queue.Outcome{Result: queue.Retry, After: time.Millisecond}
			case 2:
				return queue.Outcome{Result: queue.Park, After: time.Millisecond}
			}
			if s.count() < 5 { // it is alone, and waits for the others
				return queue.Outcome{Result: queue.Park, After: 10 * time.Millisecond}
			}
			s.add(it)
			return queue.Outcome{}
		}})
		start(t, q)
		put(t, db, q, jobArgs("c", 1, 6)...)
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
		var partitions int
		require.NoError(t, db.Get(&partitions, `SELECT count(*) FROM queue_partition`))
		require.Equal(t, 1, partitions, "a parked job's partition goes with it")
	})
}

// TestSeq counts on in a partition that was idle.
func TestSeq(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		seqs := make(chan int64, 10)
		q := newQueue(t, db, queue.Options{Handle: func(_ context.Context, it queue.Job) queue.Outcome {
			seqs <- it.Seq
			return queue.Outcome{}
		}})
		start(t, q)
		for want := range 5 {
			put(t, db, q, queue.JobArgs{Subscriber: "c", Key: "k", Subject: "s"})
			require.EqualValues(t, want+1, <-seqs)
			idle(t, q)
		}
	})
}

// TestIDsNotReused empties the tables of SQLite, which would then count from 1
// again, and a partition or a job would be taken for one that is gone.
func TestIDsNotReused(t *testing.T) {
	t.Parallel()
	db := testkit.Open(t, testkit.SQLiteURL(t))
	var s sink
	q := newQueue(t, db, queue.Options{Handle: done(&s)})
	ids := func() (partitions int) {
		put(t, db, q, queue.JobArgs{Subscriber: "c", Key: "k", Subject: "s"})
		stop := start(t, q)
		idle(t, q)
		stop()
		require.NoError(t, db.Get(&partitions, `SELECT max(id) FROM queue_partition`))
		in(t, db, func(tx *database.Tx) error { return q.DropTx(t.Context(), tx, "c") })
		return partitions
	}
	partitions := ids()
	require.Greater(t, ids(), partitions)
}

// TestCollect deletes a partition that was idle for 91 days, and no other.
func TestCollect(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		var s sink
		q := newQueue(t, db, queue.Options{Handle: done(&s)})
		stop := start(t, q)
		put(t, db, q, jobArgs("c", 3, 3)...)
		idle(t, q)
		stop()
		age := (91 * 24 * time.Hour).Microseconds()
		db.MustExec(`UPDATE queue_partition SET since_us = since_us - $1 WHERE key <> 'k0'`, age)
		in(t, db, func(tx *database.Tx) error { return q.PutTx(t.Context(), tx, jobArgs("c", 1, 1)...) })
		db.MustExec(`UPDATE queue_partition SET ready_us = 1, holder = '', tail = tail + 1 WHERE key = 'k1'`) // has work, however old
		db.MustExec(`INSERT INTO queue_job (partition_id, seq, subject) SELECT id, tail, 's' FROM queue_partition WHERE key = 'k1'`)
		start(t, q)
		testkit.UntilCommitted(t, db, func() bool {
			var keys []string
			require.NoError(t, db.Select(&keys, `SELECT key FROM queue_partition ORDER BY key`))
			return strings.Join(keys, ",") == "k0,k1"
		})
		idle(t, q)
	})
}
