//go:build !unix

package testkit

import "os/exec"

// own does nothing: such a system has no process groups.
func own(*exec.Cmd) {}
