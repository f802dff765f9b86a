//go:build unix

package main_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
)

// TestFlowBot runs the lines of the example, after those of the README.
func TestFlowBot(t *testing.T) {
	t.Parallel()
	first := testkit.ReadGuide(t, readme)
	example := testkit.ReadGuide(t, "../../../examples/flowbot/README.md")
	n := launch(t, "--data", t.TempDir())
	sh := startShell(t)
	local := replace(t, "localhost:3000", n.host)
	sh.Run(t, local(first["first-message"]))
	sh.Run(t, "cd "+testkit.Root(t))

	out := sh.Run(t, local(example["bot"]))
	require.Len(t, out, 2, "what curl answered: %s", out)
	require.Contains(t, out[0], `"status":"published"`)
	shown := func(words string) string {
		t.Helper()
		for begin := time.Now(); ; {
			if out = sh.Run(t, local(example["look"])); strings.Contains(out[0], words) {
				return out[1]
			}
			require.Less(t, time.Since(begin), time.Minute, "Joe is shown %q: %s", words, out[0])
		}
	}
	shown("Which size?")
	lines := strings.Split(strings.TrimSpace(local(example["answers"])), "\n")
	sh.Run(t, lines[0])
	shown("How many?")
	sh.Run(t, lines[1])
	require.Contains(t, shown("3 × large: that is 36 €."), `"status":"completed"`)
	n.terminate(t)
}
