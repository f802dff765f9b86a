package media

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"runtime"
	"time"
)

// Limits of a program that reads an untrusted file.
const (
	programTime = 5 * time.Second // default of Options.ProgramTime
	programs    = 2               // concurrent programs
	// In the units of ulimit: seconds of CPU, KiB of address space, and blocks to
	// write, of which the programs need none.
	programLimits = `{ ulimit -t 5; ulimit -v 1048576; ulimit -f 0; } 2>/dev/null; exec "$@"`
)

// errNoProgram reports that a program is not on the PATH.
var errNoProgram = errors.New("media: the program is not there")

// runProgram passes the output of a program to read, until either ends or the time
// is up. On systems with a shell the program's CPU time and memory are limited.
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
	cancel() // the program may still write, but nothing reads its output
	_ = cmd.Wait()
	return err
}
