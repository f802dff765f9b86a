//go:build unix

package testkit

import (
	"os/exec"
	"syscall"
)

// own gives a command its own process group, which ends as a whole.
func own(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
