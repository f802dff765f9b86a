package main

import "golang.org/x/sys/windows"

// freeBytes returns the space that is available to this user on the disk of a
// folder.
func freeBytes(folder string) (uint64, error) {
	path, err := windows.UTF16PtrFromString(folder)
	if err != nil {
		return 0, err
	}
	var free uint64
	return free, windows.GetDiskFreeSpaceEx(path, &free, nil, nil)
}
