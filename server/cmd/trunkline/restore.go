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
	"github.com/trunklinehq/trunkline/server/backup/destination"
)

// restoreCommand restores a backup.
type restoreCommand struct {
	File    string `arg:"" optional:"" name:"file" help:"The backup: a file, or a name at --from (default there: the newest)."`
	From    string `placeholder:"FOLDER|s3://BUCKET" help:"Where backup --to wrote it."`
	Account string `placeholder:"ID|E-MAIL" help:"Restore only this account, or that of this user, into the database of a server that has lost it and may be running."`
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
	if r.Account != "" {
		return r.restoreAccount(ctx, a, set, to)
	}
	return r.restoreAll(ctx, a, set, to)
}

// restoreAll restores everything into an empty database.
func (r restoreCommand) restoreAll(ctx context.Context, a *backup.Archive, set settings, to streams) error {
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
		rowsIn(a.Manifest), len(a.Manifest.Tables), a.Manifest.Files.Count, asOf(a.Manifest))
	matches, err := secretMatches(ctx, db, set)
	if err == nil && !matches {
		_, _ = fmt.Fprintln(to.out, "Give the server the secret under which the backup was written, with --secret or as the file secret in the data folder: without it the server does not start")
	}
	_, _ = fmt.Fprintln(to.out, "Stop the server of the backup before you start this one: a reference of WhatsApp Web can be connected in one place only")
	return err
}

// restoreAccount restores one account into the database of a server.
func (r restoreCommand) restoreAccount(ctx context.Context, a *backup.Archive, set settings, to streams) error {
	secret, err := secretOf(set)
	if err != nil {
		return err
	}
	keys, err := keyring.New("server", list(secret))
	if err != nil {
		return err
	}
	db, err := openCurrent(ctx, set)
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
	done, err := a.RestoreAccount(ctx, db, r.Account, &backup.AccountOptions{Migrate: migrate, Secret: keys.Matches, Media: store, Progress: bar.step})
	switch {
	case errors.Is(err, backup.ErrNoAccount):
		return &settingError{"--account", "the backup has no such account"}
	case errors.Is(err, keyring.ErrOtherSecret):
		return &settingError{"--secret", "the backup was written under another secret: give both, that of the server first"}
	case err != nil:
		return r.refused(err)
	}
	bar.end()
	_, err = fmt.Fprintf(to.out, "Restored account %s: %d rows and %d files, as of %s\n", done.Account, done.Rows, done.Files, asOf(a.Manifest))
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
	if !strings.HasPrefix(r.From, "s3://") { // a folder for backups would be made
		if _, err := os.Stat(r.From); err != nil {
			return "", nil, &settingError{"--from", "the folder cannot be read: " + cause(err)}
		}
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
	why := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "restoring an account: "), "restoring a backup: ")
	why = strings.TrimPrefix(why, "backup: ")
	switch {
	case errors.Is(err, backup.ErrDamaged):
		return &settingError{"FILE", why + ": restore another backup"}
	case errors.Is(err, backup.ErrNewer):
		return &settingError{"FILE", why + ": restore it with that version, or a later one"}
	case errors.Is(err, backup.ErrUnfit):
		return &settingError{"--database-url", why + ": restore it into SQLite, correct that row there, and take a new backup"}
	case errors.Is(err, backup.ErrExists):
		return &settingError{"--account", why + ": delete it there first, or choose another --data"}
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
