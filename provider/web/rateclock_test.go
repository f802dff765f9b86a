package web

import (
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider"
)

// TestRateOfOtherClock opens a reference on machines whose clocks are wrong: what one has
// stored holds for the other as long as it should.
func TestRateOfOtherClock(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		require.NoError(t, Migrate(t.Context(), db))
		d, err := database.Of(t.Context(), db)
		require.NoError(t, err)
		right := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
		on := func(wrongBy time.Duration) *sendRate {
			now := func() time.Time { return right.Add(wrongBy) }
			sr := &sendRate{
				conn: &connection{ref: provider.Reference{ID: 1}, now: now}, db: d, shown: func() time.Time { return right },
				limiter: newRateLimiter(Rates{Messages: 60, Burst: 4, Outreach: 60, OutreachBurst: 2}, now),
			}
			require.NoError(t, sr.load(t.Context()))
			return sr
		}
		next := func(sr *sendRate) time.Duration { return sr.limiter.next(true, 0) }
		fast := on(time.Hour)
		require.LessOrEqual(t, next(fast), time.Duration(0))
		for range 2 {
			require.NoError(t, fast.turn(t.Context(), true))
		}
		require.Equal(t, time.Minute, next(fast))
		slow := on(-24 * time.Hour)
		require.Equal(t, time.Minute, next(slow))
		right = right.Add(time.Minute)
		require.NoError(t, slow.turn(t.Context(), true))
		require.Equal(t, time.Minute, next(on(0)))
		require.Equal(t, time.Minute, next(on(time.Hour)))

		require.NoError(t, slow.lockOutreach(t.Context(), right.Add(3*time.Hour)))
		require.Equal(t, 3*time.Hour, slow.limiter.untilUnlocked())
		require.Equal(t, 3*time.Hour, on(24*time.Hour).limiter.untilUnlocked())
		require.NoError(t, slow.lockOutreach(t.Context(), time.Time{}))
		require.False(t, on(24*time.Hour).limiter.wasLocked())
	})
}
