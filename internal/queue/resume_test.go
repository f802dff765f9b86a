package queue_test

import (
	"context"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/queue"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// TestResumeTx_LocksLast: a transaction that resumes a subscriber and then puts jobs
// locks the partitions first, as the workers do.
func TestResumeTx_LocksLast(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		q := newQueue(t, db, queue.Options{Handle: func(context.Context, queue.Job) queue.Outcome { return queue.Outcome{} }})
		var found []string
		require.NoError(t, database.CheckLocks(t.Context(), db, database.LockOrder{
			Tables: [][]string{{"queue_partition"}, {"queue_subscriber"}}, Report: func(v string) { found = append(found, v) },
		}))
		_, err := db.ExecContext(t.Context(), `INSERT INTO queue_subscriber (queue, subscriber, paused_us, probe) VALUES ('q', 'a', 1, ''), ('q', 'b', 1, '')`)
		require.NoError(t, err)
		in(t, db, func(tx *database.Tx) error {
			if err := q.ResumeTx(t.Context(), tx, "a"); err != nil {
				return err
			}
			return q.PutTx(t.Context(), tx, queue.JobArgs{Subscriber: "a", Key: "k", Subject: "s"})
		})
		require.Empty(t, found)
		var left []string
		require.NoError(t, db.SelectContext(t.Context(), &left, `SELECT subscriber FROM queue_subscriber`))
		require.Equal(t, []string{"b"}, left)
	})
}
