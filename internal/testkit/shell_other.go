//go:build !unix

package testkit

import "os/exec"

// own leaves what the command starts to itself: such a system has no groups
// of processes.
func own(*exec.Cmd) {}
