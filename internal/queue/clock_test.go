package queue_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/clockstep"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/queue"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

var clockSteps = []time.Duration{time.Hour, 24 * time.Hour, 30 * 365 * 24 * time.Hour}

// noteTime notes what the clock of the database shows, as every node does every few
// seconds.
func noteTime(t *testing.T, db *sqlx.DB) {
	t.Helper()
	d, err := database.Of(t.Context(), db)
	require.NoError(t, err)
	require.NoError(t, clockstep.Check(t.Context(), d))
}

// TestClockSetBack_Ready sets the clock back while work is ready and no node runs. The
// next one to run does it.
func TestClockSetBack_Ready(t *testing.T) {
	t.Parallel()
	for _, step := range clockSteps {
		t.Run(step.String(), func(t *testing.T) {
			each(t, func(t *testing.T, db *sqlx.DB) {
				var s sink
				q := newQueue(t, db, queue.Options{Logger: quiet, Handle: done(&s)})
				put(t, db, q, jobArgs("s", 4, 20)...)
				noteTime(t, db)
				require.NoError(t, testkit.StepClock(t.Context(), db, -step))
				start(t, q)
				s.await(t, 20)
				s.inOrder(t, 4, 5)
			})
		})
	}
}

// TestClockSetBack_Waits sets the clock back while a job waits for its next attempt,
// and a subscriber is paused: neither waits for longer.
func TestClockSetBack_Waits(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		var s sink
		q := newQueue(t, db, queue.Options{Logger: quiet, Handle: func(_ context.Context, it queue.Job) queue.Outcome {
			defer s.add(it)
			if it.Subscriber == "paused" {
				return queue.Outcome{Result: queue.OpenCircuit, After: 5 * time.Minute}
			}
			return queue.Outcome{Result: queue.Retry, After: 5 * time.Minute}
		}})
		stop := start(t, q)
		put(t, db, q, queue.JobArgs{Subscriber: "paused", Key: "k", Subject: "1"}, queue.JobArgs{Subscriber: "waits", Key: "k", Subject: "1"})
		s.await(t, 2)
		stop()
		noteTime(t, db)
		require.NoError(t, testkit.StepClock(t.Context(), db, -time.Hour))
		start(t, q)
		until(t, q.Commits(), func() bool {
			d, err := database.Of(t.Context(), db)
			require.NoError(t, err)
			return clockstep.Steps(d) == 1
		})
		for _, q := range []string{`SELECT paused_us - %s FROM queue_subscriber`, `SELECT ready_us - %s FROM queue_partition WHERE subscriber = 'waits'`} {
			var us int64
			d, err := database.Of(t.Context(), db)
			require.NoError(t, err)
			require.NoError(t, db.Get(&us, fmt.Sprintf(q, d.Dialect.Now())))
			require.InDelta(t, 5*time.Minute, time.Duration(us)*time.Microsecond, float64(time.Minute), q)
		}
		require.Equal(t, 2, s.count())
	})
}

// TestClockSetBack_DeadNode sets the clock back when a node has died with work in hand:
// that it is dead becomes known as soon as ever.
func TestClockSetBack_DeadNode(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		var s sink
		require.NoError(t, queue.SetExpiry(t.Context(), db, time.Second))
		q := newQueue(t, db, queue.Options{Logger: quiet, Handle: done(&s)})
		put(t, db, q, jobArgs("s", 1, 3)...)
		d, err := database.Of(t.Context(), db)
		require.NoError(t, err)
		db.MustExec(`UPDATE queue_partition SET holder = 'dead', ready_us = ready_us + 60000000`)
		db.MustExec(`INSERT INTO queue_node (id, queue, seen_us) VALUES ('dead', 'q', ` + d.Dialect.Now() + `)`)
		noteTime(t, db)
		require.NoError(t, testkit.StepClock(t.Context(), db, -time.Hour))
		start(t, q)
		s.await(t, 3)
		var left int
		require.NoError(t, db.Get(&left, `SELECT count(*) FROM queue_node WHERE id = 'dead'`))
		require.Zero(t, left)
	})
}

// TestClockSetForward_LateNode sets the clock forward when another node's heartbeat is
// late: it has as long as ever until it is dead.
func TestClockSetForward_LateNode(t *testing.T) {
	const expiry = 3 * time.Second
	url := testkit.PostgresURL(t)
	set := testkit.PostgresClock(t, url)
	db, own := testkit.Open(t, url), testkit.Open(t, url)
	require.NoError(t, queue.SetExpiry(t.Context(), own, expiry))
	var s sink
	q := newQueue(t, own, queue.Options{Logger: quiet, Handle: done(&s)})
	noteTime(t, own)
	started := time.Now()
	db.MustExec(`INSERT INTO queue_node (id, queue, seen_us) VALUES ('late', 'q', ` + database.Postgres.Now() + `)`)
	start(t, q)
	set(time.Hour)
	until(t, q.Commits(), func() bool {
		var late int
		require.NoError(t, db.Get(&late, `SELECT count(*) FROM queue_node WHERE id = 'late'`))
		return late == 0
	})
	require.GreaterOrEqual(t, time.Since(started), expiry)
}

// TestClockSetForward sets the clock forward while two nodes run and one of them has
// work in hand for long. All leases and heartbeats then seem to have ended long ago; no
// node takes the work of the other.
func TestClockSetForward(t *testing.T) {
	t.Parallel()
	for _, step := range clockSteps {
		t.Run(step.String(), func(t *testing.T) {
			testkit.EachURL(t, func(t *testing.T, url string) {
				db := testkit.Open(t, url)
				var s sink
				started, finish := make(chan string, 2), make(chan struct{})
				node := func(name string) *queue.Queue {
					own := testkit.Open(t, url)
					require.NoError(t, queue.SetExpiry(t.Context(), own, time.Second))
					q := newQueue(t, own, queue.Options{Logger: quiet, Handle: func(ctx context.Context, it queue.Job) queue.Outcome {
						started <- name
						select {
						case <-finish:
						case <-ctx.Done():
							t.Error("the lease was lost")
						}
						s.add(it)
						return queue.Outcome{}
					}})
					start(t, q)
					return q
				}
				a, b := node("a"), node("b")
				put(t, db, a, queue.JobArgs{Subscriber: "s", Key: "k", Subject: "1"})
				<-started
				require.NoError(t, testkit.StepClock(t.Context(), db, step))
				beats := map[string]map[int64]bool{}
				until(t, b.Commits(), func() bool { // several heartbeats of each
					var nodes []struct {
						ID   string
						Seen int64 `db:"seen_us"`
					}
					require.NoError(t, db.Select(&nodes, `SELECT id, seen_us FROM queue_node`))
					many := 0
					for _, n := range nodes {
						if beats[n.ID] == nil {
							beats[n.ID] = map[int64]bool{}
						}
						beats[n.ID][n.Seen] = true
						if len(beats[n.ID]) >= 8 {
							many++
						}
					}
					return many == 2
				})
				close(finish)
				idle(t, a)
				s.await(t, 1)
				require.Equal(t, 1, s.count())
				require.Empty(t, started)
				require.Zero(t, a.Fenced()+b.Fenced())
			})
		})
	}
}

// TestOrphan has leases that have ended, of a node that is not there: as in a database
// that was restored.
func TestOrphan(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := testkit.Open(t, testkit.SQLiteURL(t))
		var s sink
		q := newQueue(t, db, queue.Options{Logger: quiet, Exclusive: true, Lease: 20 * time.Second, Now: time.Now, Handle: done(&s)})
		start(t, q)
		in(t, db, func(tx *database.Tx) error {
			if err := q.PutTx(t.Context(), tx, jobArgs("s", 20, 40)...); err != nil {
				return err
			}
			tx.BeforeCommit(func(ctx context.Context) error {
				_, err := tx.ExecContext(ctx, `UPDATE queue_partition SET holder = 'somebody', ready_us = $1`, database.Micros(time.Now().Add(20*time.Second)))
				return err
			})
			return nil
		})
		began := time.Now()
		idle(t, q)
		s.inOrder(t, 20, 2)
		require.Less(t, time.Since(began), 40*time.Second)
	})
}

// TestOutageBeyondLease keeps a node from finishing what it has in hand, and from
// renewing its leases, for longer than they last: when it can again, it has all of them
// back at once, and not one after the other.
func TestOutageBeyondLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := testkit.Open(t, testkit.SQLiteURL(t))
		var s sink
		started, finish := make(chan struct{}, 100), make(chan struct{})
		q := newQueue(t, db, queue.Options{Logger: quiet, Exclusive: true, Lease: 10 * time.Second, Now: time.Now, Handle: func(_ context.Context, it queue.Job) queue.Outcome {
			started <- struct{}{}
			<-finish
			s.add(it)
			return queue.Outcome{}
		}})
		start(t, q)
		put(t, db, q, jobArgs("s", 4, 4)...)
		for range 4 {
			<-started
		}
		db.MustExec(`CREATE TRIGGER outage BEFORE UPDATE ON queue_partition BEGIN SELECT RAISE(ABORT, 'an outage'); END`)
		close(finish)
		<-time.After(time.Minute)
		require.EqualValues(t, 4, q.Fenced())
		db.MustExec(`DROP TRIGGER outage`)
		ended := time.Now()
		idle(t, q)
		require.Less(t, time.Since(ended), 5*time.Second)
	})
}
