package media

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"runtime"
	"sync"
	"time"
)

// Folder is a [Store] in a folder of a file system. Files are in up to 256
// subfolders, named by the last two characters of their ids. A file is written in
// the subfolder "tmp" and renamed after it is synced to disk. No name leads outside
// of the folder, not even by a symbolic link.
type Folder struct {
	root   *os.Root
	synced sync.Map // subfolders that this process has synced to disk
}

const drafts = "tmp"

// OpenFolder opens the folder at path. If it does not exist it creates it, readable
// only by the current user.
func OpenFolder(path string) (*Folder, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("making the media folder: %w", err)
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, fmt.Errorf("opening the media folder: %w", err)
	}
	if err := root.MkdirAll(drafts, 0o700); err != nil {
		_ = root.Close()
		return nil, fmt.Errorf("making the media folder: %w", err)
	}
	return &Folder{root: root}, nil
}

// Close closes the folder.
func (f *Folder) Close() error { return f.root.Close() }

// Put implements [Store].
func (f *Folder) Put(_ context.Context, id string, r io.Reader, size int64) error {
	if err := CheckID(id); err != nil {
		return err
	}
	d, err := f.draft()
	if err != nil {
		return err
	}
	defer d.discard()
	n, err := io.Copy(d.File, r)
	switch {
	case err != nil:
		return fmt.Errorf("storing file %s: %w", id, full(err))
	case n != size:
		return fmt.Errorf("storing file %s: got %d of %d bytes", id, n, size)
	}
	return f.place(id, d)
}

// Open implements [Store].
func (f *Folder) Open(_ context.Context, id string) (Object, error) {
	if err := CheckID(id); err != nil {
		return nil, err
	}
	file, err := f.root.Open(cache(id))
	if err != nil {
		return nil, lookup(id, err)
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("is not a file")
	}
	if err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("opening file %s: %w", id, err)
	}
	return stored{file, info.Size()}, nil
}

// Size implements [Store].
func (f *Folder) Size(_ context.Context, id string) (int64, error) {
	if err := CheckID(id); err != nil {
		return 0, err
	}
	info, err := f.root.Stat(cache(id))
	if err != nil {
		return 0, lookup(id, err)
	}
	return info.Size(), nil
}

// Delete implements [Store].
func (f *Folder) Delete(_ context.Context, id string) error {
	if err := CheckID(id); err != nil {
		return err
	}
	err := f.root.Remove(cache(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = f.sync(path.Dir(cache(id)))
	}
	if err != nil {
		return fmt.Errorf("deleting file %s: %w", id, err)
	}
	return nil
}

// Sweep removes drafts that were not written to for longer than age. A killed
// process leaves such drafts. It returns their number.
func (f *Folder) Sweep(ctx context.Context, age time.Duration) (int, error) {
	dir, err := f.root.Open(drafts)
	if err != nil {
		return 0, fmt.Errorf("sweeping drafts: %w", err)
	}
	defer dir.Close() //nolint:errcheck // only read
	entries, err := dir.ReadDir(-1)
	if err != nil {
		return 0, fmt.Errorf("sweeping drafts: %w", err)
	}
	n := 0
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || time.Since(info.ModTime()) <= age {
			continue // removed meanwhile, or in use
		}
		if ctx.Err() != nil {
			return n, ctx.Err()
		}
		if err := f.root.Remove(path.Join(drafts, e.Name())); err == nil {
			n++
		} else if !errors.Is(err, fs.ErrNotExist) {
			return n, fmt.Errorf("sweeping drafts: %w", err)
		}
	}
	return n, nil
}

// Room returns an error if a file of size bytes could not be stored now. It is
// [ErrFull] if there is no room. A draft of that size is written and removed.
func (f *Folder) Room(_ context.Context, size int64) error {
	d, err := f.draft()
	if err != nil {
		return err
	}
	return d.fill(size)
}

func (f *Folder) draft() (*draft, error) {
	name := path.Join(drafts, rand.Text())
	file, err := f.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("making a draft: %w", full(err))
	}
	return &draft{File: file, remove: func() error { return f.root.Remove(name) }}, nil
}

// place renames the draft to the file id. It syncs the content first, then the
// name, then the folder.
func (f *Folder) place(id string, d *draft) error {
	err := d.Sync()
	if err == nil {
		err = d.Close() // some systems cannot rename an open file
	}
	if err == nil {
		err = f.shard(path.Dir(cache(id)))
	}
	if err == nil {
		err = f.root.Rename(path.Join(drafts, path.Base(d.Name())), cache(id))
	}
	if err == nil {
		err = f.sync(path.Dir(cache(id)))
	}
	if err != nil {
		return fmt.Errorf("storing file %s: %w", id, full(err))
	}
	return nil
}

// shard creates the subfolder of a file and syncs it to disk.
func (f *Folder) shard(name string) error {
	if _, ok := f.synced.Load(name); ok {
		return nil
	}
	if err := f.root.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := f.sync("."); err != nil {
		return err
	}
	f.synced.Store(name, true)
	return nil
}

// sync syncs the entries of a folder to disk.
func (f *Folder) sync(name string) error {
	if runtime.GOOS == "windows" {
		return nil // Windows has no such call, and its file system has a journal
	}
	dir, err := f.root.Open(name)
	if err != nil {
		return err
	}
	defer dir.Close() //nolint:errcheck // only read
	return dir.Sync()
}

// cache returns the path of a file. UUIDs of the same hour differ only at their
// ends.
func cache(id string) string { return path.Join(id[len(id)-2:], id) }

func lookup(id string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return ErrNotFound
	}
	return fmt.Errorf("opening file %s: %w", id, err)
}

// stored is a file of a Folder.
type stored struct {
	*os.File
	size int64
}

func (s stored) Size() int64 { return s.size }
