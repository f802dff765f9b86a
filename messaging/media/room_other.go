//go:build !windows

package media

import "syscall"

// noRoom are the errors of a file system that has no room.
var noRoom = []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG}
