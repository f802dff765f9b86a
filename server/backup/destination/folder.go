package destination

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// folder is a [Destination] in a folder.
type folder string

func openFolder(path string) (Destination, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("destination: %w", err)
	}
	return folder(path), nil
}

const (
	// unfinished is the pattern of the names of files that are being written.
	unfinished = ".trunkline-*"
	// abandoned is the age of a file that a killed process has left, since it was
	// written to last.
	abandoned = 24 * time.Hour
)

// Create implements [Destination]. It removes what killed processes have left.
func (f folder) Create() (*os.File, error) {
	left, err := filepath.Glob(filepath.Join(string(f), unfinished))
	if err != nil {
		return nil, fmt.Errorf("keeping a backup: %w", err)
	}
	for _, path := range left {
		if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) > abandoned {
			_ = os.Remove(path) // else the next time
		}
	}
	file, err := os.CreateTemp(string(f), unfinished)
	if err != nil {
		return nil, fmt.Errorf("keeping a backup: %w", err)
	}
	return file, nil
}

// List implements [Destination].
func (f folder) List(context.Context) (names []string, err error) {
	entries, err := os.ReadDir(string(f)) // sorted
	if err != nil {
		return nil, fmt.Errorf("listing backups: %w", err)
	}
	for _, e := range entries {
		if _, ok := Time(e.Name()); ok && e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// Put implements [Destination].
func (f folder) Put(_ context.Context, name, path string) error {
	if err := check(name); err != nil {
		return err
	}
	if err := os.Rename(path, filepath.Join(string(f), name)); err != nil {
		return fmt.Errorf("keeping a backup: %w", err)
	}
	return syncNames(string(f))
}

// syncNames has the entries of a folder on the disk.
func syncNames(path string) error {
	if runtime.GOOS == "windows" {
		return nil // Windows has no such call, and its file system has a journal
	}
	dir, err := os.Open(path) //nolint:gosec // the operator chose it
	if err != nil {
		return fmt.Errorf("keeping a backup: %w", err)
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// Fetch implements [Destination].
func (f folder) Fetch(_ context.Context, name string) (path string, done func(), err error) {
	if err := check(name); err != nil {
		return "", nil, err
	}
	path = filepath.Join(string(f), name)
	_, err = os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil, ErrNotFound
	}
	return path, func() {}, err
}

// Delete implements [Destination].
func (f folder) Delete(_ context.Context, name string) error {
	if err := check(name); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(string(f), name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("deleting a backup: %w", err)
	}
	return nil
}
