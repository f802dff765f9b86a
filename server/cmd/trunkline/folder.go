package main

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/trunklinehq/trunkline/server"
)

// errLocked reports that another process holds a lock.
var errLocked = errors.New("another process holds the lock")

// folder is the data folder. The process locks it until it ends.
type folder struct {
	path  string
	locks []*os.File
}

// openFolder creates the folder if necessary, and locks it.
func openFolder(path string) (*folder, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, unusable("--data", "the folder "+path+" cannot be created: "+cause(err), err)
	}
	f := &folder{path: path}
	err := f.lock(filepath.Join(path, "lock"))
	if errors.Is(err, errLocked) {
		return nil, &settingError{"--data", "the folder is in use by another trunkline: stop it, or give this one a folder of its own"}
	}
	if err != nil {
		return nil, unusable("--data", noFolder(path, err), err)
	}
	return f, nil
}

// lock locks a file until the process ends.
func (f *folder) lock(name string) error {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600) //nolint:gosec // the operator chose it
	if err != nil {
		return err
	}
	if err := lockFile(file); err != nil {
		_ = file.Close()
		return err
	}
	f.locks = append(f.locks, file)
	return nil
}

// close unlocks the folder.
func (f *folder) close() {
	for _, l := range f.locks {
		_ = l.Close()
	}
}

// lockSQLite locks a database file outside of the folder, so that only one process
// uses it.
func (f *folder) lockSQLite(url string) error {
	path := sqlitePath(url)
	file, err1 := filepath.Abs(path)
	home, err2 := filepath.Abs(f.path)
	if err := errors.Join(err1, err2); err != nil {
		return fmt.Errorf("finding the database file: %w", err)
	}
	if filepath.Dir(file) == home {
		return nil
	}
	err := f.lock(file + ".lock")
	if errors.Is(err, errLocked) {
		return &settingError{"--database-url", "the database file is in use by another trunkline"}
	}
	if err != nil {
		return unusable("--database-url", "the database file "+path+" cannot be used: "+cause(err), err)
	}
	return nil
}

// database returns the URL of the folder's own database.
func (f *folder) database() string { return databaseIn(f.path) }

func databaseIn(folder string) string { return "sqlite://" + filepath.Join(folder, "trunkline.db") }

// lost returns an error if a server has worked with this folder, and its database is not
// there any more. To begin without a word with an empty one would look as if all was
// well.
func (f *folder) lost() error {
	path := strings.TrimPrefix(f.database(), "sqlite://")
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return nil // opening it reports other errors
	}
	for _, name := range []string{"secret", "media"} { // both are made after the database
		if _, err := os.Stat(filepath.Join(f.path, name)); err != nil {
			return nil //nolint:nilerr // a new folder, or one that was prepared
		}
	}
	return &settingError{"--data", "the folder has the secret and the files of a server, but its database " + path +
		" is missing: restore it from a backup, or move the folder \"media\" away to begin with an empty database"}
}

// secrets returns the secrets of the folder. It generates one if there is none. A
// restore may have written several.
func (f *folder) secrets() ([]server.Secret, error) {
	name := filepath.Join(f.path, "secret")
	b, err := os.ReadFile(name) //nolint:gosec // the operator chose the folder
	switch {
	case err == nil:
		var out []server.Secret
		for _, s := range list(string(b)) {
			out = append(out, server.Secret(s))
		}
		if len(out) == 0 {
			return nil, &settingError{"--data", "the secret in the folder " + f.path + " is empty"}
		}
		return out, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, &settingError{"--data", "the secret in the folder " + f.path + " cannot be read: " + cause(err)}
	}
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // never fails
	text := base64.RawURLEncoding.EncodeToString(raw)
	if err := writeWhole(name, text+"\n"); err != nil {
		return nil, unusable("--data", "the secret in the folder "+f.path+" cannot be written: "+cause(err), err)
	}
	return []server.Secret{server.Secret(text)}, nil
}

// writeWhole writes a private file completely or not at all, even if the power
// fails.
func writeWhole(name, text string) error {
	tmp, err := os.CreateTemp(filepath.Dir(name), ".secret-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) //nolint:errcheck // no longer there after the rename
	_, err = tmp.WriteString(text)
	if err == nil {
		err = tmp.Sync()
	}
	if err = errors.Join(err, tmp.Close()); err != nil {
		return err
	}
	if err := os.Rename(tmp.Name(), name); err != nil {
		return err
	}
	return keepNames(filepath.Dir(name))
}

// keepNames syncs the entries of a folder to disk.
func keepNames(folder string) error {
	if runtime.GOOS == "windows" {
		return nil // Windows has no such call, and its file system has a journal
	}
	dir, err := os.Open(folder) //nolint:gosec // the operator chose it
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// noFolder says that a folder cannot be used, and why.
func noFolder(path string, err error) string {
	return "the folder " + path + " cannot be used: " + cause(err)
}

// cause returns the text of the operating system's error, without the path.
func cause(err error) string {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err.Error()
	}
	return err.Error()
}
