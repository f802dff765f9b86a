package connection

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestOwnIDAt_SortsByTime(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, later := range []time.Duration{time.Millisecond, time.Second, time.Hour, 24 * time.Hour} {
		require.Less(t, ownIDAt(at), ownIDAt(at.Add(later)), later)
	}
}
