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

// Shell is a bash into which lines of the documentation are pasted. What a
// program in its foreground reads is pasted too. It ends with the test, and
// what it left in the background ends with it.
type Shell struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Scanner
	stderr output
}

// shellFor bounds the life of a shell.
const shellFor = 6 * time.Minute

// NewShell starts a shell in an empty folder, with env beside the environment
// of the test. A command that fails and a variable that is not set end it.
func NewShell(t testing.TB, env ...string) *Shell {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), shellFor)
	t.Cleanup(cancel)
	s := &Shell{cmd: exec.CommandContext(ctx, Program(t, "bash"), "-eu")}
	s.cmd.Dir = t.TempDir()
	s.cmd.Env = append(append(os.Environ(), "NO_PROXY=*"), env...)
	s.cmd.Stderr = &s.stderr
	s.cmd.WaitDelay = 15 * time.Second // for what it has said to be read
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

// Send pastes lines.
func (s *Shell) Send(t testing.TB, lines string) {
	t.Helper()
	_, err := io.WriteString(s.in, lines)
	require.NoError(t, err, "%s", &s.stderr)
}

// Line is the next line that is not empty.
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

// Run pastes lines and returns what they print, without empty lines.
func (s *Shell) Run(t testing.TB, lines string) []string {
	t.Helper()
	s.Send(t, lines+"\necho '"+pasted+"'\n")
	var out []string
	for line := s.Line(t); line != pasted; line = s.Line(t) {
		out = append(out, line)
	}
	return out
}

// Rest ends the input, as Ctrl-D does, and returns what is printed until the
// shell has ended, in order.
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

// Kill ends the shell and what runs in its background.
func (s *Shell) Kill() {
	_ = s.cmd.Cancel() // it may have ended
	_ = s.cmd.Wait()
}

// output collects what a process writes while it runs.
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
