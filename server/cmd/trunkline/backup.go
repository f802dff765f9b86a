package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/keyring"
	"github.com/trunklinehq/trunkline/server/backup"
)

// backupCommand writes a backup of a running server.
type backupCommand struct {
	File       string `arg:"" name:"file" help:"The file to write; it must not be there."`
	WithSecret bool   `help:"Include the secret: everyone who has the file can then open everything."`
	NoMedia    bool   `help:"Omit the files of messages, for example when their bucket has its own backup."`
}

func (b backupCommand) run(ctx context.Context, f flags, to streams) error {
	set, err := f.settings()
	if err != nil {
		return err
	}
	opts := &backup.WriteOptions{Program: programVersion()}
	if b.WithSecret {
		if opts.Secret, err = secretOf(set); err != nil {
			return err
		}
	}
	if _, err := os.Lstat(b.File); err == nil {
		return &settingError{"FILE", "already exists: name another file"}
	}
	db, err := openExisting(ctx, set)
	if err != nil {
		return err
	}
	defer closeSoon(db)
	if !b.NoMedia {
		if opts.Media, err = openMedia(ctx, set); err != nil {
			return err
		}
	}
	bar := newProgress(to.err)
	defer bar.end()
	opts.Progress = bar.step
	var m backup.Manifest
	err = writeNew(b.File, func(file *os.File) error {
		if m, err = backup.Write(ctx, db, file, opts); err != nil {
			return err
		}
		return checkBackup(ctx, file.Name(), bar)
	})
	if err != nil {
		return err
	}
	bar.end()
	_, err = fmt.Fprint(to.out, wrote(b.File, m))
	return err
}

// checkBackup reads a new backup, to be sure that it can be restored.
func checkBackup(ctx context.Context, name string, bar *progress) error {
	a, err := backup.Open(name)
	if err != nil {
		return err
	}
	defer a.Close() //nolint:errcheck // it was only read
	return a.Check(ctx, bar.step)
}

// wrote describes what a backup contains, and what not.
func wrote(name string, m backup.Manifest) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Wrote %s: %d rows of %d tables and %d files, as of %s\n",
		name, rowsIn(m), len(m.Tables), m.Files.Count, m.CreatedAt.Format("2006-01-02 15:04:05 MST"))
	if m.Files.Left {
		b.WriteString("The files of messages are not in it: to restore it, use the same --media\n")
	}
	if !m.Secret {
		b.WriteString("The secret is not in it: keep the secret of the server separately, without it sealed values cannot be opened\n")
	} else {
		b.WriteString("The secret is in it: keep the file as you keep the secret\n")
	}
	return b.String()
}

func rowsIn(m backup.Manifest) (n int64) {
	for _, t := range m.Tables {
		n += t.Rows
	}
	return n
}

// writeNew writes a private file completely or not at all.
func writeNew(name string, fill func(*os.File) error) error {
	file, err := os.CreateTemp(filepath.Dir(name), ".trunkline-*") // mode 0600
	if err != nil {
		return &settingError{"FILE", "cannot be written: " + cause(err)}
	}
	defer os.Remove(file.Name()) //nolint:errcheck // no longer there after the rename
	err = fill(file)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	if err := os.Rename(file.Name(), name); err != nil {
		return err
	}
	return keepNames(filepath.Dir(name))
}

// secretOf returns the secret of a server with these settings: the given one, or
// that of the data folder.
func secretOf(set settings) (string, error) {
	if len(set.Secrets) > 0 {
		all := make([]string, len(set.Secrets))
		for i, s := range set.Secrets {
			all[i] = string(s)
		}
		return strings.Join(all, ","), nil
	}
	b, err := os.ReadFile(filepath.Join(set.Data, "secret"))
	if err != nil {
		return "", &settingError{"--secret", "is not given, and the data folder has none"}
	}
	return strings.TrimSpace(string(b)), nil
}

// restoreCommand restores a backup.
type restoreCommand struct {
	File string `arg:"" name:"file" help:"The backup."`
}

func (r restoreCommand) run(ctx context.Context, f flags, to streams) error {
	set, err := f.settings()
	if err != nil {
		return err
	}
	a, err := backup.Open(r.File)
	if err != nil {
		return r.refused(err)
	}
	defer a.Close() //nolint:errcheck // it was only read
	home, err := openFolder(set.Data)
	if err != nil {
		return err
	}
	defer home.close()
	put, err := r.secret(a, set)
	if err != nil {
		return err
	}
	db, err := openDatabase(ctx, set, home)
	if err != nil {
		return err
	}
	defer closeSoon(db)
	store, err := openMedia(ctx, set)
	if err != nil {
		return err
	}
	bar := newProgress(to.err)
	defer bar.end()
	if err := a.Restore(ctx, db, &backup.RestoreOptions{Migrate: migrate, Media: store, Secret: put, Progress: bar.step}); err != nil {
		return r.refused(err)
	}
	bar.end()
	_, _ = fmt.Fprintf(to.out, "Restored %d rows of %d tables and %d files, as of %s\n",
		rowsIn(a.Manifest), len(a.Manifest.Tables), a.Manifest.Files.Count, a.Manifest.CreatedAt.Format("2006-01-02 15:04:05 MST"))
	matches, err := secretMatches(ctx, db, set)
	if err == nil && !matches {
		_, _ = fmt.Fprintln(to.out, "Give the server the secret under which the backup was written, with --secret or as the file secret in the data folder: without it the server does not start")
	}
	_, _ = fmt.Fprintln(to.out, "Stop the server of the backup before you start this one: a reference of WhatsApp Web can be connected in one place only")
	return err
}

// secret returns a function that writes the secret of a backup into the data
// folder. nil: there is nothing to write.
func (r restoreCommand) secret(a *backup.Archive, set settings) (func(string) error, error) {
	put, err := a.Secret()
	if err != nil || put == "" || len(set.Secrets) > 0 {
		return nil, err
	}
	have, err := secretOf(set)
	if err == nil && have != put {
		return nil, &settingError{"--data", "the folder has another secret than the backup: name an empty folder"}
	}
	return func(secret string) error {
		if err := writeWhole(filepath.Join(set.Data, "secret"), secret+"\n"); err != nil {
			return &settingError{"--data", "nothing is restored, because the secret cannot be written: " + cause(err)}
		}
		return nil
	}, nil
}

// refused returns an error that tells the operator what to do.
func (r restoreCommand) refused(err error) error {
	if wrong, ok := errors.AsType[*settingError](err); ok {
		return wrong
	}
	why := strings.TrimPrefix(err.Error(), "restoring a backup: ")
	why = strings.TrimPrefix(why, "backup: ")
	switch {
	case errors.Is(err, backup.ErrDamaged):
		return &settingError{"FILE", why + ": restore another backup"}
	case errors.Is(err, backup.ErrNewer):
		return &settingError{"FILE", why + ": restore it with that version, or a later one"}
	case errors.Is(err, backup.ErrUnfit):
		return &settingError{"--database-url", why + ": restore it into SQLite, correct that row there, and take a new backup"}
	case errors.Is(err, backup.ErrNotEmpty):
		return &settingError{"--database-url", why + ": name an empty database, or another --data"}
	case errors.Is(err, os.ErrNotExist), errors.Is(err, os.ErrPermission):
		return &settingError{"FILE", "cannot be read: " + cause(err)}
	}
	return err
}

// secretMatches reports whether the database was written under the secret of a
// server with these settings.
func secretMatches(ctx context.Context, db *sqlx.DB, set settings) (bool, error) {
	secret, err := secretOf(set)
	if err != nil {
		return false, nil //nolint:nilerr // the database does not exist
	}
	keys, err := keyring.New("server", list(secret))
	if err != nil {
		return false, err
	}
	err = keys.Matches(ctx, db)
	if errors.Is(err, keyring.ErrOtherSecret) {
		return false, nil
	}
	return err == nil, err
}
