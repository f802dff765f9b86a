package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/keyring"
	"github.com/trunklinehq/trunkline/server/backup"
	"github.com/trunklinehq/trunkline/server/backup/destination"
)

// backupCommand writes backups of a running server.
type backupCommand struct {
	File        string `arg:"" optional:"" name:"file" help:"The file to write; it must not be there."`
	To          string `placeholder:"FOLDER|s3://BUCKET" help:"Write the backup there instead, with its time as its name."`
	Every       string `placeholder:"TIME" help:"Run until stopped, and write a backup there whenever the newest is this old, like 24h."`
	Keep        string `placeholder:"N" help:"Then delete all but the newest N there (default: keep all)."`
	WithSecret  bool   `help:"Include the secret: everyone who has the file can then open everything."`
	SkipDamaged bool   `help:"Leave out files of messages that are damaged on the disk, instead of writing no backup."`
	NoMedia     bool   `help:"Omit the files of messages, for example when their bucket has its own backup."`
}

func (b backupCommand) run(ctx context.Context, f flags, to streams) error {
	set, err := f.settings()
	if err != nil {
		return err
	}
	every, keep, err := b.checked()
	if err != nil {
		return err
	}
	if b.To == "" {
		if _, err := os.Lstat(b.File); err == nil {
			return &settingError{"FILE", "already exists: name another file"}
		}
		return b.write(ctx, set, to, b.newFile, b.keepFile)
	}
	once := func(ctx context.Context, there destination.Destination) error {
		return b.writeTo(ctx, set, to, there, keep)
	}
	open := func(ctx context.Context) (destination.Destination, error) { return openDestination(ctx, "--to", b.To) }
	if every > 0 {
		return (&repeated{every: every, open: open, backup: once, log: to.err}).run(ctx)
	}
	there, err := open(ctx)
	if err != nil {
		return err
	}
	return once(ctx, there)
}

// writeTo writes a backup into a destination, and deletes all but the newest there;
// keep 0 means none.
func (b backupCommand) writeTo(ctx context.Context, set settings, to streams, there destination.Destination, keep int) error {
	err := b.write(ctx, set, to, there.Create, func(path string, m backup.Manifest) (string, error) {
		name := destination.Name(m.CreatedAt)
		return name, there.Put(ctx, name, path)
	})
	if err == nil && keep > 0 {
		err = destination.Prune(ctx, there, keep)
	}
	return err
}

// checked returns the settings of the command that are not texts.
func (b backupCommand) checked() (every time.Duration, keep int, err error) {
	c := &checker{}
	if b.Every != "" {
		if every = c.duration("every", b.Every); every == 0 {
			c.refuse("every", "must be a duration like 24h or 7d")
		}
	}
	if b.Keep != "" {
		keep = c.number("keep", b.Keep, 1)
	}
	switch {
	case c.err != nil:
		return 0, 0, c.err
	case b.To == "" && (every > 0 || keep > 0):
		return 0, 0, &settingError{"--to", "must be given with --every and --keep"}
	case b.To == "" && b.File == "":
		return 0, 0, &settingError{"FILE", "must be given, or --to"}
	case b.To != "" && b.File != "":
		return 0, 0, &settingError{"FILE", "must not be given with --to, where a backup is named after its time"}
	}
	return every, keep, nil
}

// openDestination opens the destination of backups that a flag names.
func openDestination(ctx context.Context, flag, address string) (destination.Destination, error) {
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	d, err := destination.Open(ctx, address)
	if err != nil {
		return nil, unusable(flag, "it cannot be used: "+redact(cause(err), address), err)
	}
	return d, nil
}

// newFile returns a private file beside that of the command line.
func (b backupCommand) newFile() (*os.File, error) {
	file, err := os.CreateTemp(filepath.Dir(b.File), ".trunkline-*") // mode 0600
	if err != nil {
		return nil, &settingError{"FILE", "cannot be written: " + cause(err)}
	}
	return file, nil
}

// keepFile gives a new backup the name of the command line.
func (b backupCommand) keepFile(path string, _ backup.Manifest) (name string, err error) {
	if err := os.Rename(path, b.File); err != nil {
		return "", err
	}
	return b.File, keepNames(filepath.Dir(b.File))
}

// write writes a backup into a new file, reads it again, and gives it to keep, which
// returns its name.
func (b backupCommand) write(ctx context.Context, set settings, to streams, create func() (*os.File, error),
	keep func(path string, m backup.Manifest) (name string, err error),
) error {
	opts := &backup.WriteOptions{Program: programVersion(), SkipDamaged: b.SkipDamaged}
	var err error
	if b.WithSecret {
		if opts.Secret, err = secretOf(set); err != nil {
			return err
		}
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
	path, err := writeNew(create, func(file *os.File) error {
		if m, err = backup.Write(ctx, db, file, opts); err != nil {
			return damaged(err)
		}
		return checkBackup(ctx, file.Name(), bar)
	})
	if err != nil {
		return err
	}
	defer os.Remove(path) //nolint:errcheck // no longer there if it was renamed
	name, err := keep(path, m)
	if err != nil {
		return err
	}
	bar.end()
	_, err = fmt.Fprint(to.out, wrote(name, m))
	return err
}

// damaged adds what to do to errors about data that are damaged.
func damaged(err error) error {
	switch {
	case errors.Is(err, backup.ErrCorrupt):
		return fmt.Errorf("%w\nNo backup was written. Stop the server, keep a copy of its folder, and restore the newest backup; or save what can be read with the sqlite3 program: sqlite3 trunkline.db .recover", err)
	case errors.Is(err, backup.ErrFileDamaged):
		return fmt.Errorf("%w\nNo backup was written. trunkline doctor --files lists all such files. Put them back from an earlier backup, or leave them out with --skip-damaged", err)
	}
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
	if n := m.Files.Damaged; n > 0 {
		fmt.Fprintf(&b, "%d damaged files are not in it\n", n)
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

// writeNew writes a new file, and returns its path. After an error there is no file.
func writeNew(create func() (*os.File, error), fill func(*os.File) error) (path string, err error) {
	file, err := create()
	if err != nil {
		return "", err
	}
	err = fill(file)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		_ = os.Remove(file.Name())
		return "", err
	}
	return file.Name(), nil
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
	File string `arg:"" optional:"" name:"file" help:"The backup: a file, or a name at --from (default there: the newest)."`
	From string `placeholder:"FOLDER|s3://BUCKET" help:"Where backup --to wrote it."`
}

func (r restoreCommand) run(ctx context.Context, f flags, to streams) error {
	set, err := f.settings()
	if err != nil {
		return err
	}
	path, done, err := r.fetch(ctx)
	if err != nil {
		return err
	}
	defer done()
	a, err := backup.Open(path)
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

// fetch returns the path of the backup, until done is called.
func (r restoreCommand) fetch(ctx context.Context) (path string, done func(), err error) {
	switch {
	case r.From == "" && r.File == "":
		return "", nil, &settingError{"FILE", "must be given, or --from"}
	case r.From == "":
		return r.File, func() {}, nil
	}
	there, err := openDestination(ctx, "--from", r.From)
	if err != nil {
		return "", nil, err
	}
	name := r.File
	if name == "" {
		names, err := there.List(ctx)
		if err != nil {
			return "", nil, err
		}
		if len(names) == 0 {
			return "", nil, &settingError{"--from", "there is no backup"}
		}
		name = names[len(names)-1]
	}
	path, done, err = there.Fetch(ctx, name)
	if errors.Is(err, destination.ErrNotFound) {
		return "", nil, &settingError{"FILE", "there is no such backup at --from"}
	}
	return path, done, err
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
