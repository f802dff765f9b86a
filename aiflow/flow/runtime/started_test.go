package runtime_test

import (
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
)

// startedIs checks how many runs an account has begun today.
func (f *fixture) startedIs(t *testing.T, account string, want int64) {
	t.Helper()
	n, err := f.Started(t.Context(), f.db, account, f.clock.Now().UTC().Truncate(24*time.Hour))
	require.NoError(t, err)
	require.Equal(t, want, n)
}

// TestStarted counts the runs of the day, before and after the counter has counted them,
// and after they are gone.
func TestStarted(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := running(t, db, nil)
		quick := nodes(t, ``, `"first":{"type":"end"}`)
		f.clock.Advance(f.clock.Now().Truncate(24 * time.Hour).Add(25 * time.Hour).Sub(f.clock.Now())) // 1:00
		f.begin(t, "", quick)
		f.startedIs(t, account, 1)
		f.clock.Advance(24 * time.Hour)
		for range 3 {
			f.begin(t, "ana", quick)
		}
		f.startedIs(t, account, 3)
		f.startedIs(t, "stranger", 0)
		f.stop()
		f.clock.Advance(2 * time.Minute) // no run can appear among these any more
		f = f.successor(t, db, nil).start(t)
		f.until(t, func() bool {
			var n int
			require.NoError(t, db.GetContext(t.Context(), &n, `SELECT COALESCE(SUM(n), 0) FROM usagecounter_day WHERE name = 'flow'`))
			return n == 4
		})
		f.startedIs(t, account, 3)
		require.NoError(t, f.acc.Erase(t.Context(), runtime.Erasure{Reference: line, ChatIDs: []string{"ana"}}))
		f.startedIs(t, account, 3)
		f.begin(t, "", quick)
		f.startedIs(t, account, 4)
		require.NoError(t, f.acc.DeleteAll(t.Context()))
		f.startedIs(t, account, 0)
	})
}
