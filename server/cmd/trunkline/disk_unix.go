//go:build unix

package main

import "golang.org/x/sys/unix"

// freeBytes returns the space that is available to this user on the disk of a
// folder.
func freeBytes(folder string) (uint64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(folder, &st); err != nil {
		return 0, err
	}
	return uint64(st.Bavail) * uint64(st.Bsize), nil //nolint:unconvert // their types differ between systems
}
