//go:build !unix

package main_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// freeze fails the test: processes freeze on Unix only.
func (*node) freeze(t *testing.T) (thaw func()) {
	t.Helper()
	require.Fail(t, "no process freezes here")
	return nil
}
