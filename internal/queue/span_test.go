package queue_test

import (
	"context"
	"sync"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/queue"
	"github.com/trunklinehq/trunkline/internal/span"
)

// TestTraceparent: what a job follows from reaches its handler on another
// node, through a retry and a partition of its own.
func TestTraceparent(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		var mu sync.Mutex
		seen := map[string][]string{}
		q := newQueue(t, db, queue.Options{
			Handle: func(ctx context.Context, it queue.Job) queue.Outcome {
				mu.Lock()
				defer mu.Unlock()
				if span.Of(ctx) != it.Traceparent {
					t.Error("the context has another one")
				}
				seen[it.Subject] = append(seen[it.Subject], it.Traceparent)
				return queue.Outcome{Result: []queue.Result{queue.Retry, queue.Park, queue.Done}[it.Attempt]}
			},
		})
		in(t, db, func(tx *database.Tx) error {
			ctx := span.With(t.Context(), "of-the-context")
			return q.PutTx(ctx, tx, queue.JobArgs{Subscriber: "c", Key: "k", Subject: "1", Traceparent: "its-own"}, queue.JobArgs{Subscriber: "c", Key: "k", Subject: "2"})
		})
		put(t, db, q, queue.JobArgs{Subscriber: "c", Key: "k", Subject: "3"})
		start(t, q)
		idle(t, q)
		require.Equal(t, map[string][]string{
			"1": {"its-own", "its-own", "its-own"},
			"2": {"of-the-context", "of-the-context", "of-the-context"},
			"3": {"", "", ""},
		}, seen)
	})
}
