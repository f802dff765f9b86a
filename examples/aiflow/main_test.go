package main_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
)

// TestTrace runs the line of the README twice, the second time on what the first
// has left, and compares what is printed with what is there.
func TestTrace(t *testing.T) {
	t.Parallel()
	readme := testkit.ReadExample(t)
	sh := testkit.NewShell(t)
	want := strings.Split(strings.TrimSuffix(readme.Block(t, "trace"), "\n"), "\n")
	for range 2 {
		require.Equal(t, want, sh.Run(t, readme.Block(t, "start")))
	}
}
