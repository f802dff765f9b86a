package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/trunklinehq/trunkline/server"
)

// versionCommand prints the version of the program, how it was built and its licence.
type versionCommand struct {
	Short bool `help:"The version alone."`
}

func (v versionCommand) run(_ context.Context, _ flags, to streams) error {
	if v.Short {
		_, err := fmt.Fprintln(to.out, programVersion())
		return err
	}
	_, err := fmt.Fprintf(to.out, "trunkline %s\n%slicence   %s\n", programVersion(), buildLines(debug.ReadBuildInfo()), licence)
	return err
}

// buildLines returns what is known about the build of the program.
func buildLines(info *debug.BuildInfo, ok bool) string {
	out := ""
	if ok {
		out += fmt.Sprintf("module    %s\n", info.Main.Path)
		var commit, at, dirty string
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				commit = s.Value
			case "vcs.time":
				at = s.Value
			case "vcs.modified":
				if s.Value == "true" {
					dirty = ", changed"
				}
			}
		}
		if commit != "" {
			out += fmt.Sprintf("commit    %s (%s%s)\n", commit, at, dirty)
		}
	}
	return out + fmt.Sprintf("go        %s\nplatform  %s/%s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func programVersion() string {
	if version != "" {
		return version
	}
	return server.BuildVersion()
}
