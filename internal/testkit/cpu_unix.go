//go:build unix

package testkit

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func ownCPUTime(t testing.TB) time.Duration {
	t.Helper()
	var u syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
