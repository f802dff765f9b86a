package webhook_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/webhook"
)

// TestLockOrder changes and deletes endpoints that are paused: both, and what
// finishes deliveries, lock the same rows in the same order.
func TestLockOrder(t *testing.T) {
	t.Parallel()
	db := testkit.Open(t, testkit.PostgresURL(t))
	rec := receive(t, func(_ int, _ request, w http.ResponseWriter) { w.WriteHeader(http.StatusBadGateway) })
	f := running(t, db, webhook.Options{Policy: webhook.Policy{ProbeFirst: time.Hour, ProbeLast: time.Hour}})
	for round := range 20 {
		ep := f.put(t, fmt.Sprint(rec.URL, "/", round))
		var evs []webhook.Event
		for k := range 8 {
			evs = append(evs, event(chat(k), round))
		}
		f.publish(t, evs...)
		f.until(t, func() bool {
			got, err := f.Endpoint(t.Context(), ep.ID)
			require.NoError(t, err)
			return got.State == webhook.StatePaused
		})
		var g errgroup.Group
		g.Go(func() error { return f.Delete(t.Context(), ep.ID) })
		for range 3 {
			after := time.NewTimer(time.Duration(rand.IntN(3000)) * time.Microsecond)
			g.Go(func() error {
				<-after.C
				_, err := f.Update(t.Context(), ep.ID, webhook.Change{Events: []string{"message"}})
				if errors.Is(err, webhook.ErrNotFound) {
					return nil
				}
				return err
			})
		}
		require.NoError(t, g.Wait())
	}
	f.stop()
	var deadlocks int
	db.MustExec(`SELECT pg_stat_force_next_flush()`)
	require.NoError(t, db.Get(&deadlocks, `SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`))
	require.Zero(t, deadlocks)
}
