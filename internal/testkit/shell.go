package testkit

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Shell is a bash process that executes lines of the documentation. Programs in its
// foreground read from the same input. It ends with the test, together with its
// background processes.
type Shell struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Scanner
	stderr output
}

// shellFor bounds the lifetime of a shell.
const shellFor = 6 * time.Minute

// NewShell starts a shell in an empty folder, with env added to the environment of
// the test. It ends when a command fails or a variable is unset.
func NewShell(t testing.TB, env ...string) *Shell {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), shellFor)
	t.Cleanup(cancel)
	s := &Shell{cmd: exec.CommandContext(ctx, Program(t, "bash"), "-eu")}
	s.cmd.Dir = t.TempDir()
	s.cmd.Env = append(append(os.Environ(), "NO_PROXY=*"), env...)
	s.cmd.Stderr = &s.stderr
	s.cmd.WaitDelay = 15 * time.Second // time to read its remaining output
	own(s.cmd)
	var err error
	s.in, err = s.cmd.StdinPipe()
	require.NoError(t, err)
	out, err := s.cmd.StdoutPipe()
	require.NoError(t, err)
	s.out = bufio.NewScanner(out)
	s.out.Buffer(nil, 1<<20)
	require.NoError(t, s.cmd.Start())
	t.Cleanup(s.Kill)
	return s
}

// Send writes lines to the shell.
func (s *Shell) Send(t testing.TB, lines string) {
	t.Helper()
	_, err := io.WriteString(s.in, lines)
	require.NoError(t, err, "%s", &s.stderr)
}

// Line returns the next line that is not empty.
func (s *Shell) Line(t testing.TB) string {
	t.Helper()
	for s.out.Scan() {
		if s.out.Text() != "" {
			return s.out.Text()
		}
	}
	require.Fail(t, "the shell ended", s.stderr.String())
	return ""
}

const pasted = "--- pasted ---"

// Run writes lines to the shell and returns their output without empty lines.
func (s *Shell) Run(t testing.TB, lines string) []string {
	t.Helper()
	s.Send(t, lines+"\necho '"+pasted+"'\n")
	var out []string
	for line := s.Line(t); line != pasted; line = s.Line(t) {
		out = append(out, line)
	}
	return out
}

// Rest closes the input, as Ctrl-D does, and returns the output until the shell
// ends.
func (s *Shell) Rest(t testing.TB) []string {
	t.Helper()
	require.NoError(t, s.in.Close())
	var out []string
	for s.out.Scan() {
		out = append(out, s.out.Text())
	}
	require.NoError(t, s.out.Err())
	require.NoError(t, s.cmd.Wait(), "%s", &s.stderr)
	return out
}

// Kill kills the shell and its background processes.
func (s *Shell) Kill() {
	_ = s.cmd.Cancel() // it may have ended already
	_ = s.cmd.Wait()
}

// output collects the output of a process while it runs.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}
