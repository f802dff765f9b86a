//go:build !windows

package media

import "syscall"

// noRoom are the errors of a full file system.
var noRoom = []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG}
