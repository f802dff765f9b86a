// Command trunkline runs the server: chat lines connected to code, webhooks,
// bots and AI agents. Each flag is also an environment variable, --tls-cert is
// TRUNKLINE_TLS_CERT; see trunkline --help.
//
// It ends with 0 after a drain, with 2 and one line when a setting is wrong,
// and with 1 when it fails.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"
)

// version is set when a release is built: -ldflags "-X main.version=1.2.3".
var version string

const (
	exitFailed  = 1
	exitSetting = 2
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the whole program; it returns its exit code.
func run(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends at once
	cmd, f, code := parse(args, stdout, stderr)
	if cmd == nil {
		return code
	}
	err := cmd.run(ctx, f, streams{os.Stdin, stdout, stderr})
	var wrong *settingError
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errPrinted):
		return exitFailed
	case errors.As(err, &wrong):
		_, _ = fmt.Fprintln(stderr, "trunkline:", oneLine(wrong.Error()))
		return exitSetting
	}
	_, _ = fmt.Fprintln(stderr, "trunkline:", oneLine(err.Error()))
	return exitFailed
}

// subcommand is what the command line asks for.
type subcommand interface {
	run(ctx context.Context, f flags, to streams) error
}

// streams are those of the process.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// errPrinted ends the program with exit code 1: why has been said.
var errPrinted = errors.New("said")

// parse reads the command line; without a command nothing is left to do, as
// after --help.
func parse(args []string, stdout, stderr io.Writer) (cmd subcommand, f flags, code int) {
	unsetEmpty()
	var line commandLine
	done := false
	parser := parserOf(&line, kong.Writers(stdout, stderr), kong.Exit(func(c int) { code, done = c, true }))
	kctx, err := parser.Parse(args)
	if done {
		return nil, f, code
	}
	if err != nil {
		_, _ = fmt.Fprintln(stderr, "trunkline:", oneLine(err.Error()))
		return nil, f, exitSetting
	}
	return kctx.Selected().Target.Addr().Interface().(subcommand), line.Flags, 0
}

// parserOf knows all commands and flags.
func parserOf(line *commandLine, more ...kong.Option) *kong.Kong {
	return kong.Must(line, append(more, // panics when the flags themselves are wrong
		kong.Name("trunkline"), kong.Description("Chat lines connected to code, webhooks, bots and AI agents."),
		kong.DefaultEnvars("TRUNKLINE"))...)
}

// unsetEmpty makes an empty variable the same as none, as a compose file
// leaves it that passes on what is not set.
func unsetEmpty() {
	for _, kv := range os.Environ() {
		if name, value, _ := strings.Cut(kv, "="); value == "" && strings.HasPrefix(name, "TRUNKLINE_") {
			_ = os.Unsetenv(name)
		}
	}
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
