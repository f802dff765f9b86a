package main_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestTalk types to the bot, and counts on an answer without waiting for the
// next look of a worker, which may be a second away.
func TestTalk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bin := filepath.Join(dir, "echobot")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", bin, ".").CombinedOutput()
	require.NoError(t, err, "%s", out)
	began := time.Now()
	for range 2 { // the second time with what the first has left
		cmd := exec.CommandContext(t.Context(), bin, "-db", "sqlite://"+filepath.Join(dir, "echobot.db"))
		cmd.Stdin, cmd.Stderr = strings.NewReader("Hello\nGrüße 🙂\n1\n2\n3\n"), t.Output()
		out, err = cmd.Output()
		require.NoError(t, err)
		require.Equal(t, "> Hello\n> Grüße 🙂\n> 1\n> 2\n> 3\n", string(out))
	}
	require.Less(t, time.Since(began), 8*time.Second, "ten answers")
}
