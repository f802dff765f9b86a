package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
)

// TestReadme runs the line of the README, and types.
func TestReadme(t *testing.T) {
	t.Parallel()
	sh := testkit.NewShell(t)
	sh.Send(t, testkit.ReadExample(t).Block(t, "start")+"Hello\nYou!\n")
	require.Equal(t, []string{"> Hello", "> You!"}, sh.Rest(t))
}

// TestTalk types to the bot, and counts on an answer without waiting for the
// next look of a worker, which may be a second away.
func TestTalk(t *testing.T) {
	t.Parallel()
	database := "sqlite://" + filepath.Join(t.TempDir(), "echobot.db")
	for range 2 { // the second time with what the first has left
		testkit.Within(t, 4*time.Second, "five answers", func() {
			var out bytes.Buffer
			require.NoError(t, run(t.Context(), database, strings.NewReader("Hello\nGrüße 🙂\n1\n2\n3\n"), &out))
			require.Equal(t, "> Hello\n> Grüße 🙂\n> 1\n> 2\n> 3\n", out.String())
		})
	}
}
