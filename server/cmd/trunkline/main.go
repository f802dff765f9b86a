// Command trunkline runs the server: chat networks connected to code, webhooks, bots
// and AI agents. Each flag is also an environment variable: --tls-cert is
// TRUNKLINE_TLS_CERT. See trunkline --help.
//
// The exit code is 0 after a graceful shutdown, 2 if a setting is wrong or unknown
// (with one line of output), and 1 after any other error.
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

// run runs the program and returns its exit code.
func run(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
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

// subcommand is the command of the command line.
type subcommand interface {
	run(ctx context.Context, f flags, to streams) error
}

// streams are the standard streams of the process.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// errPrinted ends the program with exit code 1 without printing: the reason was
// printed before.
var errPrinted = errors.New("said")

// parse parses the command line. Without a command there is nothing left to do, as
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
		_, _ = fmt.Fprintln(stderr, "trunkline:", parseError(parser.Model.Node, err))
		return nil, f, exitSetting
	}
	return kctx.Selected().Target.Addr().Interface().(subcommand), line.Flags, 0
}

// parserOf returns the parser for all commands and flags.
func parserOf(line *commandLine, more ...kong.Option) *kong.Kong {
	return kong.Must(line, append(more, // panics if the flags themselves are invalid
		kong.Name("trunkline"), kong.Description("Chat references connected with code, webhooks, bots and AI agents."),
		kong.DefaultEnvars("TRUNKLINE"))...)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
