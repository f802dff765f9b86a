//go:build unix

package main_test

import (
	"bufio"
	"context"
	"io"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
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
	blocks, err := testkit.Blocks(readme)
	require.NoError(t, err)
	require.Equal(t, "go run ./server/cmd/trunkline\n", blocks["start"])
	n := launch(t, "--data", t.TempDir(), "--webhook-allow", "127.0.0.1/32")
	sh := startShell(t)
	defer sh.end(t)
	local := replace(t, "localhost:3000", n.host)

	out := sh.run(t, local(blocks["first-message"]))
	require.Len(t, out, 6, "what curl answered: %s", out)
	reference, hook, wrote, answered, echo, phone := out[0], out[1], out[2], out[3], out[4], out[5]
	require.Contains(t, reference, `"id":1,`)
	require.Contains(t, hook, `"success":true`)
	require.Contains(t, wrote, `"success":true`)
	require.Regexp(t, `"status":"(SENDING|DELIVERED)"`, answered)
	again := regexp.MustCompile(`(?m)^api .*/echo\b.*$`).FindString(local(blocks["first-message"]))
	for !strings.Contains(echo, "Are you open today?") { // a busy machine has not delivered it yet
		require.Less(t, time.Since(begin), 3*time.Minute, "the webhook received the contact's message: %s", echo)
		echo = sh.run(t, again)[0]
	}
	require.Contains(t, phone, `"text":"Until nine."`)
	require.Contains(t, phone, `"text":"Are you open today?"`)

	addr := testkit.FreeAddress(t)
	own := replace(t, "go run ./examples/webhookreceiver", binary(t, "webhookreceiver")+" -addr "+addr+" -db sqlite://"+t.TempDir()+"/received.db")(local(blocks["own-receiver"]))
	sh.send(t, replace(t, "127.0.0.1:4000", addr)(own))
	require.Contains(t, sh.line(t), addr, "the endpoint")
	heard := "" // curl and the receiver print in any order
	for !strings.Contains(heard, `"success":true`) || !strings.Contains(heard, "message 2: ") {
		heard += sh.line(t) + "\n"
	}
	require.Regexp(t, `(?s)status 1: .*"status":"READ".*message 2: .*"text":"And tomorrow\?"`, heard, "who writes has read the answer")
	t.Logf("promise: %s: from the start to the answer of a receiver of one's own in %.1f s", t.Name(), time.Since(begin).Seconds())
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

// shell is a bash into which lines are pasted.
type shell struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Scanner
	stderr text
}

func startShell(t *testing.T) *shell {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	s := &shell{cmd: exec.CommandContext(ctx, "bash", "-eu")}
	s.cmd.Env = append(s.cmd.Environ(), "NO_PROXY=*", "TOKEN=") // TOKEN: the first call has none
	s.cmd.Stderr = &s.stderr
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // with what it leaves in the background
	s.cmd.Cancel = func() error { return syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL) }
	var err error
	s.in, err = s.cmd.StdinPipe()
	require.NoError(t, err)
	out, err := s.cmd.StdoutPipe()
	require.NoError(t, err)
	s.out = bufio.NewScanner(out)
	s.out.Buffer(nil, 1<<20)
	require.NoError(t, s.cmd.Start())
	return s
}

func (s *shell) send(t *testing.T, lines string) {
	t.Helper()
	_, err := io.WriteString(s.in, lines)
	require.NoError(t, err, &s.stderr)
}

// line is the next line that is not empty.
func (s *shell) line(t *testing.T) string {
	t.Helper()
	for s.out.Scan() {
		if s.out.Text() != "" {
			return s.out.Text()
		}
	}
	require.Fail(t, "the shell ended", s.stderr.String())
	return ""
}

const done = "--- done ---"

// run pastes lines and returns what they print.
func (s *shell) run(t *testing.T, lines string) []string {
	t.Helper()
	s.send(t, lines+"\necho '"+done+"'\n")
	var out []string
	for line := s.line(t); line != done; line = s.line(t) {
		out = append(out, line)
	}
	return out
}

// end kills the shell and what runs in its background.
func (s *shell) end(t *testing.T) {
	t.Helper()
	require.NoError(t, s.cmd.Cancel())
	_ = s.cmd.Wait() // it was killed
}
