//go:build unix

package main_test

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// freeze stops a process where it is, as a machine that sleeps does, until it
// is thawed or the test ends.
func (n *node) freeze(t *testing.T) (thaw func()) {
	t.Helper()
	require.NoError(t, n.cmd.Process.Signal(syscall.SIGSTOP))
	t.Cleanup(func() { _ = n.cmd.Process.Signal(syscall.SIGCONT) })
	return func() { require.NoError(t, n.cmd.Process.Signal(syscall.SIGCONT)) }
}
