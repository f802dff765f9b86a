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
	first, err := testkit.Blocks(readme)
	require.NoError(t, err)
	example, err := testkit.Blocks("../../../examples/flowbot/README.md")
	require.NoError(t, err)
	n := launch(t, "--data", t.TempDir())
	sh := startShell(t)
	defer sh.end(t)
	local := replace(t, "localhost:3000", n.host)
	sh.run(t, local(first["first-message"]))
	sh.run(t, "cd ../../..")

	out := sh.run(t, local(example["bot"]))
	require.Len(t, out, 2, "what curl answered: %s", out)
	require.Contains(t, out[0], `"status":"published"`)
	shown := func(words string) string {
		t.Helper()
		for begin := time.Now(); ; {
			if out = sh.run(t, local(example["look"])); strings.Contains(out[0], words) {
				return out[1]
			}
			require.Less(t, time.Since(begin), time.Minute, "Joe is shown %q: %s", words, out[0])
		}
	}
	shown("Which size?")
	lines := strings.Split(strings.TrimSpace(local(example["answers"])), "\n")
	sh.run(t, lines[0])
	shown("How many?")
	sh.run(t, lines[1])
	require.Contains(t, shown("3 × large: that is 36 €."), `"status":"completed"`)
	n.terminate(t)
}
