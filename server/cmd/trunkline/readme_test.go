//go:build unix

package main_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
)

const readme = "../../../README.md"

// TestReadme runs the lines of the README as a newcomer does, from nothing to
// an answered message. Only the address and what "go run" would build differ.
func TestReadme(t *testing.T) {
	t.Parallel()
	begin := time.Now()
	blocks := testkit.ReadGuide(t, readme)
	require.Equal(t, "go run ./server/cmd/trunkline\n", blocks["start"])
	n := launch(t, "--data", t.TempDir(), "--webhook-allow", "127.0.0.1/32")
	sh := startShell(t)
	local := replace(t, "localhost:3000", n.host)

	out := sh.Run(t, local(blocks["first-message"]))
	require.Len(t, out, 7, "what curl answered: %s", out)
	reference, hook, wrote, answered, echo, phone := out[1], out[2], out[3], out[4], out[5], out[6]
	require.Contains(t, reference, `"id":1,`)
	require.Contains(t, hook, `"success":true`)
	require.Contains(t, wrote, `"success":true`)
	require.Regexp(t, `"status":"(SENDING|DELIVERED)"`, answered)
	again := regexp.MustCompile(`(?m)^api .*/echo\b.*$`).FindString(local(blocks["first-message"]))
	for !strings.Contains(echo, "Are you open today?") { // a busy machine has not delivered it yet
		require.Less(t, time.Since(begin), 3*time.Minute, "the webhook received the contact's message: %s", echo)
		echo = sh.Run(t, again)[0]
	}
	require.Contains(t, phone, `"text":"Until nine."`)
	require.Contains(t, phone, `"text":"Are you open today?"`)

	out = sh.Run(t, local(blocks["first-message"]))
	require.Len(t, out, 7, "a second time: %s", out)
	require.Contains(t, out[0], `"status":409`)
	for _, answer := range out[1:5] {
		require.NotContains(t, answer, `"code"`, "a second time")
	}

	t.Logf("promise: %s: from the start to an answered message and its webhook in %.1f s", t.Name(), time.Since(begin).Seconds())
	n.terminate(t)
}

// replace returns a function that replaces what must be there.
func replace(t *testing.T, from, to string) func(string) string {
	t.Helper()
	return func(s string) string {
		t.Helper()
		require.Contains(t, s, from)
		return strings.ReplaceAll(s, from, to)
	}
}

// startShell returns a shell without a login: the first call has an empty token.
func startShell(t *testing.T) *testkit.Shell {
	t.Helper()
	return testkit.NewShell(t, "TOKEN=")
}
