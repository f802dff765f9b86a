package main_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	command "github.com/trunklinehq/trunkline/server/cmd/trunkline"
)

// TestMain lets a test run this very binary as the command, and removes what
// [binary] built.
func TestMain(m *testing.M) {
	if os.Getenv("RUN_AS_COMMAND") == "1" {
		os.Exit(command.Run(os.Args[1:], os.Stdout, os.Stderr))
	}
	code := m.Run()
	if dir, err := built(); dir != "" && err == nil {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

var (
	buildOnce    sync.Once
	buildDir     string
	buildElapsed time.Duration
	errBuild     error
)

// built returns the folder of what was built, or "" when no test needed it.
func built() (string, error) { return buildDir, errBuild }

// binary builds the command and the example receiver, once for all tests, and
// returns the path of one of them. With -trimpath, as for a release, it would
// compile again what the tests are compiled of, which takes minutes.
func binary(t testing.TB, name string) string {
	t.Helper()
	buildOnce.Do(func() {
		if buildDir, errBuild = os.MkdirTemp("", "trunkline-bin-"); errBuild != nil { //nolint:usetesting // outlives the test
			return
		}
		cmd := exec.Command("go", "build", "-o", buildDir+string(filepath.Separator), ".", "../../../examples/webhookreceiver")
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		begin := time.Now()
		out, err := cmd.CombinedOutput()
		if buildElapsed = time.Since(begin); err != nil {
			errBuild = fmt.Errorf("building: %w: %s", err, out)
		}
	})
	require.NoError(t, errBuild)
	return filepath.Join(buildDir, name)
}

// node is a running server.
type node struct {
	cmd     *exec.Cmd
	host    string        // 127.0.0.1:PORT
	elapsed time.Duration // from its start until it was ready
	ready   chan string   // the first line of stdout
	ended   chan struct{} // closed once it is reaped; then the next two hold
	rest    string        // of stdout
	err     error
	stderr  *text
}

// text collects what a process writes while it runs.
type text struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (x *text) Write(p []byte) (int, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.b.Write(p)
}

func (x *text) String() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.b.String()
}

// trunkline prepares the command on a free port.
func trunkline(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary(t, "trunkline"), append([]string{"--addr", "127.0.0.1:0"}, args...)...)
	cmd.Dir = t.TempDir()
	return cmd
}

// launch starts a server that ends with the test at the latest, and waits for
// its ready line.
func launch(t testing.TB, args ...string) *node {
	t.Helper()
	return launchIn(t, nil, args...)
}

// launchIn is launch with more in the environment.
func launchIn(t testing.TB, env []string, args ...string) *node {
	t.Helper()
	n := spawn(t, env, args...)
	n.awaitReady(t)
	return n
}

// awaitReady waits for the ready line of a server.
func (n *node) awaitReady(t testing.TB) {
	t.Helper()
	line, ok := <-n.ready
	require.True(t, ok, "it ended: %s", n.stderr)
	var port int
	_, err := fmt.Sscanf(line, "Trunkline is ready: panel http://localhost:%d/panel/, API docs", &port)
	require.NoError(t, err, line)
	n.host = fmt.Sprintf("127.0.0.1:%d", port)
}

// spawn starts a server with env added to the environment of this process. It does
// not wait.
func spawn(t testing.TB, env []string, args ...string) *node {
	t.Helper()
	return spawnCommand(t, env, trunkline(t, args...))
}

// spawnCommand is spawn for a command that becomes the server.
func spawnCommand(t testing.TB, env []string, cmd *exec.Cmd) *node {
	t.Helper()
	n := &node{cmd: cmd, stderr: &text{}, ready: make(chan string, 1), ended: make(chan struct{})}
	n.cmd.Env, n.cmd.Stderr = append(os.Environ(), env...), n.stderr
	pipe, err := n.cmd.StdoutPipe()
	require.NoError(t, err)
	begin := time.Now()
	require.NoError(t, n.cmd.Start())
	go n.attend(pipe, begin)
	t.Cleanup(func() {
		n.kill()
		if t.Failed() {
			log := n.stderr.String()
			t.Logf("the server on %s wrote:\n%s", n.host, log[max(0, len(log)-8<<10):])
		}
	})
	return n
}

// attend reads what the server prints until it ends, and reaps it.
func (n *node) attend(stdout io.Reader, begin time.Time) {
	defer close(n.ended)
	out := bufio.NewReader(stdout)
	if line, err := out.ReadString('\n'); err == nil {
		n.elapsed = time.Since(begin)
		n.ready <- line
	}
	close(n.ready)
	rest, _ := io.ReadAll(out) // a killed process has no more to say
	n.rest, n.err = string(rest), n.cmd.Wait()
}

// kill ends the server with signal 9 and reaps it.
func (n *node) kill() {
	_ = n.cmd.Process.Kill() // it may have ended
	<-n.ended
}

// terminate ends the server as an operator does, and returns how long it took
// to drain.
func (n *node) terminate(t testing.TB) time.Duration {
	t.Helper()
	begin := time.Now()
	require.NoError(t, n.cmd.Process.Signal(syscall.SIGTERM))
	late := time.AfterFunc(busyDrain, func() { _ = n.cmd.Process.Kill() })
	defer late.Stop()
	<-n.ended
	require.NoError(t, n.err, "it did not exit with 0 within %s: %s", busyDrain, n.stderr)
	require.Empty(t, n.rest, "one line is all it prints")
	return time.Since(begin)
}

// busyDrain is how long a drain may take on a busy machine: 20 s are promised.
const busyDrain = time.Minute

// refuses runs the command, which must end with exit code 2 and one line on
// stderr, and returns the line.
func refuses(t testing.TB, args ...string) string {
	t.Helper()
	cmd := trunkline(t, args...)
	var out, err strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &err
	late := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	var exit *exec.ExitError
	require.ErrorAs(t, cmd.Run(), &exit, "it started: %s", &out)
	require.Equal(t, 2, exit.ExitCode(), &err)
	require.Empty(t, out.String())
	require.Equal(t, 1, strings.Count(err.String(), "\n"), &err)
	require.Regexp(t, `^trunkline: `, err.String())
	return strings.TrimSpace(err.String())
}
