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
	cmd, line, code, done := parse(args, stdout, stderr)
	if done {
		return code
	}
	var err error
	switch cmd {
	case "version":
		_, _ = fmt.Fprintln(stdout, programVersion())
	case "user":
		err = line.User.Reset.run(ctx, line.Flags, stdout)
	case "pair":
		err = line.Pair.run(ctx, os.Stdin, stdout)
	default:
		err = serve(ctx, line.Flags, stdout, stderr)
	}
	var wrong *settingError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &wrong):
		_, _ = fmt.Fprintln(stderr, "trunkline:", oneLine(wrong.Error()))
		return exitSetting
	}
	_, _ = fmt.Fprintln(stderr, "trunkline:", oneLine(err.Error()))
	return exitFailed
}

// parse reads the command line; done says that nothing is left to do, as after
// --help.
func parse(args []string, stdout, stderr io.Writer) (cmd string, line commandLine, code int, done bool) {
	unsetEmpty()
	parser, err := kong.New(&line,
		kong.Name("trunkline"), kong.Description("Chat lines connected to code, webhooks, bots and AI agents."),
		kong.DefaultEnvars("TRUNKLINE"), kong.Writers(stdout, stderr),
		kong.Exit(func(c int) { code, done = c, true }))
	if err != nil {
		panic(err) // the flags themselves are wrong
	}
	kctx, err := parser.Parse(args)
	if done {
		return "", line, code, true
	}
	if err != nil {
		_, _ = fmt.Fprintln(stderr, "trunkline:", oneLine(err.Error()))
		return "", line, exitSetting, true
	}
	return strings.Fields(kctx.Command())[0], line, 0, false
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
