package testkit

import (
	"bufio"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// Child runs a test of the test binary in a process of its own, and waits until it
// prints the line ready. lines has its further output. The child is killed when t
// ends. Its standard input ends when this process does.
func Child(t testing.TB, test, ready string, env ...string) (c *exec.Cmd, lines *bufio.Scanner) {
	t.Helper()
	c = exec.Command(os.Args[0], "-test.run=^"+test+"$")
	c.Env = append(os.Environ(), env...)
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	stdin, err := c.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	lines = bufio.NewScanner(out)
	require.True(t, lines.Scan())
	require.Equal(t, ready, lines.Text())
	return c, lines
}
