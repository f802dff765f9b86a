//go:build unix

package main_test

import (
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
)

// TestGettingStarted follows the guide with a stopwatch: after the build, the
// first message, its webhook and its answer are there within a minute.
func TestGettingStarted(t *testing.T) {
	t.Parallel()
	guide := testkit.ReadGuide(t, "../../../docs/getting-started.md")
	require.Equal(t, "mkdir -p bin && go build -o bin/ ./server/cmd/trunkline ./examples/webhookreceiver\n", guide["build"], "what binary does")
	require.Equal(t, "bin/trunkline --webhook-allow 127.0.0.1/32\n", guide["start"])
	receiver := binary(t, "webhookreceiver")

	begin := time.Now()
	n := launch(t, "--data", t.TempDir(), "--webhook-allow", "127.0.0.1/32")
	sh := startShell(t)
	local := replace(t, "localhost:3000", n.host)
	sh.Run(t, local(guide["account"]))
	require.Contains(t, sh.Run(t, local(guide["reference"]))[0], `"id":1,`)

	addr := testkit.FreeAddress(t)
	own := replace(t, "bin/webhookreceiver", receiver+" -addr "+addr+" -db sqlite://"+t.TempDir()+"/received.db")(local(guide["webhook"]))
	received := ""
	hears := func(all ...string) { // curl and the receiver print in any order
		t.Helper()
		for _, want := range all {
			for !regexp.MustCompile(want).MatchString(received) {
				received += sh.Line(t) + "\n"
			}
		}
	}
	sh.Send(t, replace(t, "127.0.0.1:4000", addr)(own))
	hears(`"webhook":"http`)
	sh.Send(t, local(guide["inbound"]))
	hears(`"success":true`, `message 1: .*"text":"Are you open today\?"`)
	sh.Send(t, local(guide["answer"]))
	hears(`"status":"(SENDING|DELIVERED)"`, `Are you open.*Until nine\.|Until nine\..*Are you open`, `status \d+: `)
	elapsed := time.Since(begin)
	require.Less(t, elapsed, time.Minute)
	t.Logf("promise: %s: built in %.1f s; from the start to the answer and its webhook in %.1f s", t.Name(), buildElapsed.Seconds(), elapsed.Seconds())
	n.terminate(t)
}
