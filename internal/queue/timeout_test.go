package queue_test

import (
	"context"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/queue"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// TestTimeout has a handler that hangs once, amidst a run. Its context ends for
// that reason, it is tried again, and what comes behind it continues.
func TestTimeout(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		const n = 8
		s := &sink{}
		why := make(chan error, 1)
		o := queue.Options{Timeout: 50 * time.Millisecond, Exclusive: true} // no lost heartbeat ends a handler
		o.Handle = func(ctx context.Context, it queue.Job) queue.Outcome {
			if it.Subject == "4" && it.Attempt == 0 {
				<-ctx.Done()
				why <- context.Cause(ctx)
				return queue.Outcome{Result: queue.Retry}
			}
			s.add(it)
			return queue.Outcome{}
		}
		q := newQueue(t, db, o)
		put(t, db, q, jobArgs("c", 1, n)...)
		start(t, q)
		s.await(t, n)
		idle(t, q)
		s.inOrder(t, 1, n)
		require.ErrorIs(t, <-why, context.DeadlineExceeded)
	})
}
