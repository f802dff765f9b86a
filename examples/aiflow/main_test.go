package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTrace runs the program twice on one database, and compares what it prints
// with the README.
func TestTrace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bin := filepath.Join(dir, "aiflow")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", bin, ".").CombinedOutput()
	require.NoError(t, err, "%s", out)
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	_, want, _ := strings.Cut(string(readme), "\n```text\n")
	want, _, _ = strings.Cut(want, "```")
	for range 2 {
		out, err := exec.CommandContext(t.Context(), bin, "-db", "sqlite://"+filepath.Join(dir, "flows.db")).CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Equal(t, want, string(out))
	}
}
