package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

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
	switch {
	case err == nil:
		return d, nil
	case strings.HasPrefix(address, "s3://"):
		return nil, unusable(flag, "it cannot be used: "+redact(cause(err), address), err)
	}
	return nil, unusable(flag, noFolder(address, err), err)
}

// newFile returns a private file beside that of the command line.
func (b backupCommand) newFile() (*os.File, error) {
	folder := filepath.Dir(b.File)
	file, err := os.CreateTemp(folder, ".trunkline-*") // mode 0600
	if err != nil {
		return nil, &settingError{"FILE", noFolder(folder, err)}
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
		name, rowsIn(m), len(m.Tables), m.Files.Count, asOf(m))
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

// asOf returns the time of a backup.
func asOf(m backup.Manifest) string { return m.CreatedAt.Format("2006-01-02 15:04:05 MST") }

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
