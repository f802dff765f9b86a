package queue_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/queue"
	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/internal/testsignal"
)

// TestComplete records what was loaded and handled, in the finishing transaction.
func TestComplete(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		db.MustExec(`CREATE TABLE log (key TEXT, subject TEXT, result BIGINT, data TEXT)`)
		var completed atomic.Int32
		var more testsignal.Signal
		q := newQueue(t, db, queue.Options{
			Load: func(_ context.Context, jobs []*queue.Job) error {
				for _, it := range jobs {
					it.Data = "data of " + it.Subject
				}
				return nil
			},
			Handle: func(_ context.Context, it queue.Job) queue.Outcome {
				out := queue.Outcome{Data: it.Data}
				if it.Subject == "2" && it.Attempt == 0 {
					out.Result = queue.Retry
				}
				return out
			},
			Complete: func(ctx context.Context, tx *database.Tx, outs []queue.Outcome) error {
				for _, out := range outs {
					if _, err := tx.ExecContext(ctx, `INSERT INTO log (key, subject, result, data) VALUES ($1, $2, $3, $4)`,
						out.Job.Key, out.Job.Subject, int(out.Result), out.Data); err != nil {
						return err
					}
				}
				return nil
			},
			OnComplete: func(outs []queue.Outcome) {
				completed.Add(int32(len(outs)))
				more.Send()
			},
		})
		start(t, q)
		put(t, db, q, jobArgs("c", 5, 15)...)
		idle(t, q)
		until(t, &more, func() bool { return completed.Load() == 20 })
		var log []string
		require.NoError(t, db.Select(&log, `SELECT data FROM log WHERE key = 'k3'`))
		require.Equal(t, []string{"data of 1", "data of 2", "data of 2", "data of 3"}, log)
		var retries int
		require.NoError(t, db.Get(&retries, `SELECT count(*) FROM log WHERE result = $1`, int(queue.Retry)))
		require.Equal(t, 5, retries)
	})
}

// TestCompleteFails refuses one job's outcome a few times: it is handled again,
// and the others of its batch are recorded.
func TestCompleteFails(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		var s sink
		var mu sync.Mutex
		refused, handled := 0, 0
		q := newQueue(t, db, queue.Options{
			Logger: quiet,
			Handle: func(_ context.Context, it queue.Job) queue.Outcome {
				if it.Key == "k3" {
					mu.Lock()
					handled++
					mu.Unlock()
				}
				return queue.Outcome{}
			},
			Complete: func(_ context.Context, _ *database.Tx, outs []queue.Outcome) error {
				mu.Lock()
				defer mu.Unlock()
				for _, out := range outs {
					if out.Job.Key == "k3" && out.Job.Attempt == 0 {
						refused++
						return errors.New("test")
					}
				}
				return nil
			},
			OnComplete: func(outs []queue.Outcome) {
				for _, out := range outs {
					s.add(out.Job)
				}
			},
		})
		start(t, q)
		put(t, db, q, jobArgs("c", 20, 20)...)
		idle(t, q)
		s.await(t, 20)
		s.inOrder(t, 20, 1)
		require.Positive(t, refused)
		require.Equal(t, 2, handled)
	})
}

func TestLoadFails(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		var s sink
		var failed atomic.Bool
		q := newQueue(t, db, queue.Options{Logger: quiet, Handle: done(&s), Load: func(context.Context, []*queue.Job) error {
			if failed.CompareAndSwap(false, true) {
				return errors.New("test")
			}
			return nil
		}})
		start(t, q)
		put(t, db, q, jobArgs("c", 3, 30)...)
		s.await(t, 30)
		idle(t, q)
		s.inOrder(t, 3, 10)
	})
}

// TestFence takes a partition away from a handler that is at work.
func TestFence(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		var s, recorded sink
		var log logSignal
		started, free := make(chan struct{}, 2), make(chan struct{})
		q := newQueue(t, db, queue.Options{
			Logger: slog.New(&log),
			Handle: func(_ context.Context, it queue.Job) queue.Outcome {
				started <- struct{}{}
				<-free
				s.add(it)
				return queue.Outcome{}
			},
			OnComplete: func(outs []queue.Outcome) {
				for _, out := range outs {
					recorded.add(out.Job)
				}
			},
		})
		start(t, q)
		put(t, db, q, queue.JobArgs{Subscriber: "c", Key: "k", Subject: "1"})
		<-started
		db.MustExec(`UPDATE queue_partition SET epoch = epoch + 1, ready_us = 1, holder = ''`) // as a claim by another node that then died
		<-started
		close(free)
		idle(t, q)
		s.await(t, 2)
		recorded.await(t, 1)
		require.Equal(t, 1, recorded.count())
		until(t, &log.Signal, func() bool { return q.Fenced() == 1 })
	})
}

// TestRenew works for longer than a lease, twice: once it keeps the lease, and
// once the lease is taken away and the handler is told.
func TestRenew(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			renew(t, testkit.Open(t, testkit.SQLiteURL(t)), time.Now)
		})
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		renew(t, testkit.Open(t, testkit.PostgresURL(t)), nil)
	})
}

func renew(t *testing.T, db *sqlx.DB, now func() time.Time) {
	t.Helper()
	const lease = 12 * time.Second // a busy machine may stand still for half of it
	reported := make(chan error, 1)
	var handled atomic.Int32
	o := queue.Options{Logger: quiet, Lease: lease, Exclusive: true, Now: now} // nobody waits for heartbeats
	o.Handle = func(ctx context.Context, it queue.Job) queue.Outcome {
		handled.Add(1)
		switch {
		case it.Subject == "long":
			timer := time.NewTimer(lease * 9 / 8)
			defer timer.Stop()
			select {
			case <-timer.C:
			case <-ctx.Done():
				t.Error("the lease was not renewed")
			}
		case it.Attempt == 0:
			db.MustExec(`UPDATE queue_partition SET epoch = epoch + 1, attempt = 1, ready_us = 1, holder = ''`)
			<-ctx.Done()
			reported <- context.Cause(ctx)
		}
		return queue.Outcome{}
	}
	q := newQueue(t, db, o)
	start(t, q)
	put(t, db, q, queue.JobArgs{Subscriber: "c", Key: "k", Subject: "long"})
	idle(t, q)
	require.EqualValues(t, 1, handled.Load())
	put(t, db, q, queue.JobArgs{Subscriber: "c", Key: "k", Subject: "taken"})
	require.ErrorContains(t, <-reported, "lease")
	idle(t, q)
	require.EqualValues(t, 3, handled.Load())
}

// TestDrain stops a node with one handler that finishes, one that yields when
// it is told to, and one that does neither.
func TestDrain(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		var s sink
		var log logSignal
		started, finish, stuck := make(chan struct{}, 10), make(chan struct{}), make(chan struct{})
		q := newQueue(t, db, queue.Options{
			Logger: slog.New(&log), Drain: 20 * time.Millisecond,
			Handle: func(ctx context.Context, it queue.Job) queue.Outcome {
				started <- struct{}{}
				switch it.Key {
				case "k0":
					<-finish
					s.add(it)
				case "k1":
					<-ctx.Done()
					close(finish)
					return queue.Outcome{Result: queue.Snooze}
				case "k2":
					<-stuck
				}
				return queue.Outcome{}
			},
			Complete: func(_ context.Context, _ *database.Tx, outs []queue.Outcome) error {
				for _, out := range outs {
					if out.Result == queue.Snooze {
						t.Error("a yield was recorded")
					}
				}
				return nil
			},
		})
		stop := start(t, q)
		put(t, db, q, jobArgs("c", 3, 9)...)
		for range 3 {
			<-started
		}
		stopped := make(chan struct{})
		go func() {
			stop()
			close(stopped)
		}()
		select {
		case <-stopped:
		case <-time.After(timeout):
			require.FailNow(t, "it does not stop")
		}
		require.Equal(t, []string{"1"}, s.of("c/k0"), "the rest of a run is handed back")
		stats, err := q.Stats(t.Context())
		require.NoError(t, err)
		require.Zero(t, stats.Leased)
		require.EqualValues(t, 8, stats.Ready)
		var nodes int
		require.NoError(t, db.Get(&nodes, `SELECT count(*) FROM queue_node`))
		require.Zero(t, nodes)

		next := newQueue(t, db, queue.Options{Handle: func(_ context.Context, it queue.Job) queue.Outcome {
			if it.Attempt != 0 {
				t.Error("handing back is no attempt")
			}
			s.add(it)
			return queue.Outcome{}
		}})
		start(t, next)
		s.await(t, 9)
		idle(t, next)
		s.inOrder(t, 3, 3)
		close(stuck)
		until(t, &log.Signal, func() bool { return q.Fenced() == 1 })
	})
}

// TestSlowRun finishes what a slow partition has done before its run is over.
func TestSlowRun(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		var completed atomic.Int64 // the last of them
		q := newQueue(t, db, queue.Options{
			Handle: func(_ context.Context, it queue.Job) queue.Outcome {
				if it.Seq == 2 {
					timer := time.NewTimer(100 * time.Millisecond)
					<-timer.C
				}
				if it.Seq == 3 && completed.Load() != 2 {
					t.Error("the first two wait for the third")
				}
				return queue.Outcome{}
			},
			Complete: func(_ context.Context, _ *database.Tx, outs []queue.Outcome) error {
				completed.Store(outs[len(outs)-1].Job.Seq)
				return nil
			},
		})
		put(t, db, q, jobArgs("c", 1, 5)...)
		start(t, q)
		idle(t, q)
	})
}

// TestDrain_LetsHandlersFinish stops a node: its handlers have the whole time of
// Options.Drain, and only then are they cancelled.
func TestDrain_LetsHandlersFinish(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := testkit.Open(t, testkit.SQLiteURL(t))
		started := make(chan context.Context)
		q := newQueue(t, db, queue.Options{Drain: time.Minute, Handle: func(ctx context.Context, _ queue.Job) queue.Outcome {
			started <- ctx
			<-ctx.Done()
			return queue.Outcome{Result: queue.Snooze}
		}})
		put(t, db, q, jobArgs("c", 1, 1)...)
		stop := start(t, q)
		ctx := <-started
		began := time.Now()
		stopped := make(chan struct{})
		go func() { stop(); close(stopped) }()
		synctest.Wait()
		require.NoError(t, ctx.Err())
		<-ctx.Done()
		require.Equal(t, time.Minute, time.Since(began))
		<-stopped
	})
}

// TestComplete_Unwritable has a database for a while that cannot be written: what was
// done is recorded afterwards, and not done again.
func TestComplete_Unwritable(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		var s, recorded sink
		var refused atomic.Int32
		q := newQueue(t, db, queue.Options{
			Logger: quiet, Handle: done(&s),
			Complete: func(_ context.Context, _ *database.Tx, outs []queue.Outcome) error {
				if refused.Add(1) <= 3 {
					return fmt.Errorf("recording: %w", database.ErrUnwritable)
				}
				for _, o := range outs {
					recorded.add(o.Job)
				}
				return nil
			},
		})
		start(t, q)
		put(t, db, q, jobArgs("s", 4, 20)...)
		idle(t, q)
		s.inOrder(t, 4, 5)
		recorded.inOrder(t, 4, 5)
		require.Greater(t, refused.Load(), int32(3))
	})
}
