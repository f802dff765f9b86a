package queue

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// TestStaleRun finishes two runs of a partition in one transaction: one whose lease
// was lost, and the one that the same node began after that. Only the second
// counts, and what the first has done is done again.
func TestStaleRun(t *testing.T) {
	t.Parallel()
	testkit.EachURL(t, func(t *testing.T, url string) {
		ctx, db := t.Context(), testkit.Open(t, url)
		require.NoError(t, Migrate(ctx, db))
		q, err := New(ctx, db, Options{Name: "q", Run: 4, Handle: func(context.Context, Job) Outcome { return Outcome{} }})
		require.NoError(t, err)
		n := newNode(q)
		require.NoError(t, q.db.Write(ctx, func(tx *database.Tx) error {
			var es []JobArgs
			for _, subject := range []string{"1", "2", "3", "4", "5"} {
				es = append(es, JobArgs{Subscriber: "s", Key: "k", Subject: subject})
			}
			return q.PutTx(ctx, tx, es...)
		}))
		claim := func() *run {
			runs, err := n.claimer.claimPartitions(ctx, []candidate{{Subscriber: "s", partitions: 1}})
			require.NoError(t, err)
			require.Len(t, runs, 1)
			require.Len(t, runs[0].jobs, 4)
			return runs[0]
		}
		ended := func(r *run, outs ...Result) *run {
			for i, result := range outs {
				r.outs = append(r.outs, Outcome{Job: *r.jobs[i], Result: result, After: time.Nanosecond})
			}
			r.completion = r.completed()
			return r
		}

		finish := func(runs ...*run) {
			n.slots.register(ctx, runs, time.Now().Add(time.Minute))
			kept, err := n.completer.finish(ctx, runs)
			require.NoError(t, err)
			require.Len(t, kept, 1)
			n.slots.drop(kept...)
		}

		stale := ended(claim(), Done, Done, Done)
		_, err = db.ExecContext(ctx, `UPDATE queue_partition SET epoch = epoch + 1, ready_us = 1, holder = ''`)
		require.NoError(t, err)
		finish(ended(claim(), Retry), stale)

		again := claim()
		require.Equal(t, "1", again.jobs[0].Subject)
		require.Equal(t, 1, again.jobs[0].Attempt)
		finish(stale, ended(again, Done, Done, Done, Done))
		var left []string
		require.NoError(t, db.SelectContext(ctx, &left, `SELECT subject FROM queue_job`))
		require.Equal(t, []string{"5"}, left)
	})
}
