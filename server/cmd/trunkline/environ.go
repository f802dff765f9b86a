package main

import (
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/trunklinehq/trunkline/internal/text"
)

// envPrefix begins the environment variables of the settings.
const envPrefix = "TRUNKLINE_"

// passwordVariable is the password of the command pair, which must not be a flag.
const passwordVariable = envPrefix + "PASSWORD"

// otherVariables begin like settings and are none: the server that the programs of
// docs/webhooks.md call, and the fixtures of the tests.
var otherVariables = append([]string{passwordVariable, envPrefix + "URL", envPrefix + "SHARED"}, testVariables...)

// Kubernetes gives each container the variables of all Services of its namespace. If a
// Service is named trunkline, or trunkline-…, they begin like settings.
var (
	serviceVariable = regexp.MustCompile(`^TRUNKLINE_(\w+_)?(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_(TCP|UDP|SCTP)(_PROTO|_PORT|_ADDR)?)$`)
	servicePort     = regexp.MustCompile(`^TRUNKLINE_(\w+_)?PORT$`) // with an address like tcp://10.0.0.1:3000
	serviceAddress  = regexp.MustCompile(`^[a-z]+://`)
)

// environment refuses variables that begin like settings but are none. environ is as of
// [os.Environ].
func (c *checker) environment(environ []string) {
	var unknown []string
	for _, variable := range environ {
		name, value, _ := strings.Cut(variable, "=")
		if runtime.GOOS == "windows" { // which ignores the case
			name = strings.ToUpper(name)
		}
		if strings.HasPrefix(name, envPrefix) && value != "" && !isOther(name, value) {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) == 0 {
		return
	}
	settings := settingVariables()
	slices.Sort(unknown)
	for _, name := range unknown {
		if !slices.Contains(settings, name) && c.err == nil {
			c.err = &settingError{name, noSetting(name, settings)}
		}
	}
}

// isOther reports whether a variable is known, but is no setting.
func isOther(name, value string) bool {
	return slices.Contains(otherVariables, name) || serviceVariable.MatchString(name) ||
		servicePort.MatchString(name) && serviceAddress.MatchString(value)
}

// noSetting says that a variable is no setting, and which one was probably meant.
func noSetting(name string, settings []string) string {
	var names []string
	for _, s := range settings {
		names = append(names, strings.TrimPrefix(s, envPrefix))
	}
	meant := text.Nearest(strings.TrimPrefix(name, envPrefix), names)
	if name == envPrefix+"PORT" {
		meant = "ADDR"
	}
	if meant == "" {
		return "there is no such setting: trunkline --help lists all"
	}
	return "there is no such setting, did you mean " + envPrefix + meant + "?"
}

// settingVariables returns the variables of the flags of all commands.
func settingVariables() []string {
	var out []string
	eachFlag(parserOf(&commandLine{}).Model.Node, func(f *kong.Flag) { out = append(out, f.Envs...) })
	return out
}

// eachFlag calls fn for the flags of a command and of its subcommands.
func eachFlag(n *kong.Node, fn func(*kong.Flag)) {
	for _, f := range n.Flags {
		fn(f)
	}
	for _, c := range n.Children {
		eachFlag(c, fn)
	}
}

// parseError returns the text of an error of kong on one line. kong repeats the value of
// a variable that cannot be read; this does not, because it may be a secret.
func parseError(model *kong.Node, err error) string {
	says := err.Error()
	eachFlag(model, func(f *kong.Flag) {
		for _, name := range f.Envs {
			if !strings.Contains(says, "(from envar "+name+"=") {
				continue
			}
			says = name + ": must be a whole number"
			if f.IsBool() {
				says = name + ": must be true or false"
			}
		}
	})
	return oneLine(says)
}

// unsetEmpty unsets empty environment variables, as a compose file sets them that
// passes on unset variables.
func unsetEmpty() {
	for _, kv := range os.Environ() {
		if name, value, _ := strings.Cut(kv, "="); value == "" && strings.HasPrefix(name, envPrefix) {
			_ = os.Unsetenv(name)
		}
	}
}
