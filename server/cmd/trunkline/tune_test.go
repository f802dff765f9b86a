package main

import (
	"math"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTune changes settings of the whole process, so no other test runs beside it.
func TestTune(t *testing.T) {
	percent, limit := debug.SetGCPercent(100), debug.SetMemoryLimit(math.MaxInt64)
	t.Cleanup(func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	})
	for name, c := range map[string]struct {
		flags   flags
		gogc    string
		percent int
		limit   int64
	}{
		"default":              {percent: 200, limit: math.MaxInt64},
		"variable of Go":       {gogc: "100", percent: 100, limit: math.MaxInt64},
		"flags":                {flags: flags{GCPercent: "400", MemoryLimit: "1073741824"}, percent: 400, limit: 1 << 30},
		"flag before variable": {flags: flags{GCPercent: "50"}, gogc: "100", percent: 50, limit: math.MaxInt64},
	} {
		t.Run(name, func(t *testing.T) {
			debug.SetGCPercent(100) // as Go does with GOGC=100, and without it
			debug.SetMemoryLimit(math.MaxInt64)
			set, err := c.flags.settings()
			require.NoError(t, err)
			set.tune(func(string) string { return c.gogc })
			require.Equal(t, c.percent, debug.SetGCPercent(100))
			require.Equal(t, c.limit, debug.SetMemoryLimit(-1))
		})
	}
}
