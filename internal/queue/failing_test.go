package queue_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/queue"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// TestStatementsFail has each statement fail of each operation: the operation fails,
// and then it can be done.
func TestStatementsFail(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		seen, asked := testkit.Counting(t, db)
		q := newQueue(t, seen, queue.Options{Logger: quiet, Handle: done(&sink{})})
		ctx := t.Context()
		jobs := func(es ...queue.JobArgs) func() error {
			return func() error {
				return inTx(t, seen, func(tx *database.Tx) error { return q.PutTx(ctx, tx, es...) })
			}
		}
		asked.FailEach(t, jobs(jobArgs("c", 3, 7)...))
		asked.FailEach(t, jobs(queue.JobArgs{Subscriber: "c", Key: "k0", Subject: "x", Merged: "k1"}))
		asked.FailEach(t, jobs(queue.JobArgs{Subscriber: "c", Key: "k1", Subject: "y"}))
		asked.FailEach(t, jobs(queue.JobArgs{Subscriber: "c", Key: "k2", Subject: "z", Merged: "k0"}, queue.JobArgs{Subscriber: "d", Key: "k2", Subject: "z"}))
		asked.FailEach(t, func() error {
			s, err := q.Stats(ctx)
			if err == nil {
				require.EqualValues(t, 9, s.Ready+s.Waiting, "a merge is no job")
			}
			return err
		})
		asked.FailEach(t, func() error {
			first, err := q.First(ctx)
			if err == nil {
				require.NotEmpty(t, first)
			}
			return err
		})
		asked.FailEach(t, func() error {
			pending, err := q.Pending(ctx, []string{"c"}, queue.JobArgs{}, 3)
			if err == nil {
				require.Len(t, pending, 3)
			}
			return err
		})
		asked.FailEach(t, func() error {
			return inTx(t, seen, func(tx *database.Tx) error { return q.ResumeTx(ctx, tx, "c") })
		})
		asked.FailEach(t, func() error { return q.Drop(ctx, "c") })
		asked.FailEach(t, func() error {
			return inTx(t, seen, func(tx *database.Tx) error { return q.DropTx(context.WithoutCancel(ctx), tx, "d") })
		})
		s, err := q.Stats(ctx)
		require.NoError(t, err)
		require.Zero(t, s.Ready+s.Waiting)
	})
}

// TestRun_Unwritable begins while the database cannot be written, for two minutes: the
// queue waits for it.
func TestRun_Unwritable(t *testing.T) {
	t.Parallel()
	for _, exclusive := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			db, asked := testkit.Counting(t, testkit.Open(t, "sqlite://:memory:"))
			var s sink
			q := newQueue(t, db, queue.Options{Logger: quiet, Exclusive: exclusive, Handle: done(&s)})
			put(t, db, q, jobArgs("s", 1, 3)...)
			asked.LoseCommits("queue_node", 120)
			stop := start(t, q)
			<-time.After(time.Minute)
			s.inOrder(t, 0, 0)
			<-time.After(2 * time.Minute)
			synctest.Wait()
			s.inOrder(t, 1, 3)
			stop()
		})
	}
}
