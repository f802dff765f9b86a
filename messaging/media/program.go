package media

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"runtime"
	"time"
)

// Bounds of a program that looks into the file of a stranger.
const (
	programTime = 5 * time.Second // where Options say nothing
	programs    = 2               // at a time
	// In the words of ulimit: seconds of CPU, KiB of address space, and
	// blocks that it may write, of which it needs none.
	programLimits = `{ ulimit -t 5; ulimit -v 1048576; ulimit -f 0; } 2>/dev/null; exec "$@"`
)

// errNoProgram reports that a program is not on the PATH.
var errNoProgram = errors.New("media: the program is not there")

// runProgram shows read what a program writes, until either ends or the time is
// up. On systems with a shell the program's CPU time and memory are bounded.
func runProgram(ctx context.Context, read func(io.Reader) error, name string, args ...string) error {
	path, err := exec.LookPath(name)
	if err != nil {
		return errNoProgram
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...) //nolint:gosec // a program by its name, and a file of our own
	if shell, err := exec.LookPath("sh"); err == nil && runtime.GOOS != "windows" {
		cmd = exec.CommandContext(ctx, shell, append([]string{"-c", programLimits, name, path}, args...)...) //nolint:gosec // the same
	}
	cmd.Env = []string{"LANG=C"}
	cmd.WaitDelay = time.Second
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	err = read(out)
	cancel() // it may still write, and its output is not read
	_ = cmd.Wait()
	return err
}
