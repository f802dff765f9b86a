package connection

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider"
)

// TestSight has a lease of another node that has ended by the clock, which was set. It is
// free only when the other node, which cannot renew it any more, has let go of it.
func TestSight(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ls := newLeases(&Manager{})
		free := func(untilUS int64, node string) bool {
			rows := []leaseRow{{Reference: provider.ReferenceID(1), Node: node, UntilUS: untilUS, Free: true}}
			ls.sight(rows)
			return rows[0].Free
		}
		const letsGo = leaseTTL - leaseMargin + leaseWatchInterval
		renewed := time.Now()
		require.False(t, free(1, "other"), "it is seen at once")
		for {
			<-time.After(heartbeatInterval)
			if free(1, "other") {
				break
			}
		}
		require.Greater(t, time.Since(renewed), letsGo)
		require.LessOrEqual(t, time.Since(renewed), leaseTTL)

		require.False(t, free(2, "other"), "it was renewed")
		require.True(t, free(0, ""), "a lease that was handed over is free at once")
	})
}
