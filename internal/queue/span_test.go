package lane_test

import (
	"context"
	"sync"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/lane"
	"github.com/trunklinehq/trunkline/internal/span"
)

// TestTraceparent: what an entry follows from reaches its handler on another
// node, through the router, a retry and a lane of its own.
func TestTraceparent(t *testing.T) {
	each(t, func(t *testing.T, db *sqlx.DB) {
		var mu sync.Mutex
		seen := map[string][]string{}
		q := newQueue(t, db, lane.Options{
			Route: func(_ context.Context, _ *sqlx.Tx, es []lane.Entry) ([]lane.Entry, error) {
				for i := range es {
					es[i].Consumer = "c"
				}
				return es, nil
			},
			Handle: func(ctx context.Context, it lane.Item) lane.Outcome {
				mu.Lock()
				defer mu.Unlock()
				if span.Of(ctx) != it.Traceparent {
					t.Error("the context has another one")
				}
				seen[it.Subject] = append(seen[it.Subject], it.Traceparent)
				return lane.Outcome{Verdict: []lane.Verdict{lane.Retry, lane.Detach, lane.Done}[it.Attempt]}
			},
		})
		in(t, db, func(tx *sqlx.Tx) error {
			ctx := span.With(t.Context(), "of-the-context")
			return q.PutTx(ctx, tx, lane.Entry{Key: "k", Subject: "1", Traceparent: "its-own"}, lane.Entry{Key: "k", Subject: "2"})
		})
		put(t, db, q, lane.Entry{Consumer: "c", Key: "k", Subject: "3"})
		start(t, q)
		idle(t, q)
		require.Equal(t, map[string][]string{
			"1": {"its-own", "its-own", "its-own"},
			"2": {"of-the-context", "of-the-context", "of-the-context"},
			"3": {"", "", ""},
		}, seen)
	})
}
