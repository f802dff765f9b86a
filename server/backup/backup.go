// Package backup writes everything that a server stores into one file, while the
// server runs, and restores it into an empty database, SQLite or PostgreSQL.
//
// The file is a zip archive: manifest.json, a file of rows for each table
// (tables/NAME.jsonl), files.jsonl and the files of messages (files/ID). A row is a
// JSON array of its values, in the order of the manifest's columns. Rows are in the
// order of the table's key, so that two databases with the same content have the
// same digests, whatever kind they are. Secrets are sealed in the rows as in the
// database: they cannot be opened without the server's secret.
//
//	m, err := backup.Write(ctx, db, file, &backup.WriteOptions{Media: store})
//	a, err := backup.Open("trunkline.backup")
//	err = a.Restore(ctx, empty, &backup.RestoreOptions{Migrate: server.Migrate, Media: other})
//
// Data that are meaningful only in one database are not included: numbers of
// transactions are 0.
package backup

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/messaging/media"
)

// Format is the version of the archives that this package writes. It reads all
// versions up to this one.
const Format = 1

// Errors of [Write].
var (
	// ErrCorrupt reports a database whose file is damaged.
	ErrCorrupt = errors.New("backup: the database is corrupt")
	// ErrFileDamaged reports a file of a message that has other content than when it
	// was stored.
	ErrFileDamaged = errors.New("backup: a file is damaged")
)

// Errors of a restore that has written no row.
var (
	// ErrDamaged reports a file that is not an archive, or was changed since it was
	// written.
	ErrDamaged = errors.New("backup: the file is damaged, or no backup")
	// ErrNewer reports an archive that a newer program wrote.
	ErrNewer = errors.New("backup: it was written by a newer program")
	// ErrNotEmpty reports a database that has rows.
	ErrNotEmpty = errors.New("backup: the database is not empty")
	// ErrUnfit reports a text of SQLite that PostgreSQL cannot store.
	ErrUnfit = errors.New("backup: PostgreSQL cannot hold it")
)

// Manifest describes the content of an archive.
type Manifest struct {
	Format    int       `json:"format"`
	Program   string    `json:"program"` // version of the program that wrote the archive
	CreatedAt time.Time `json:"createdAt"`
	Database  string    `json:"database"` // "sqlite" or "postgres"
	// Versions are the versions of the tables of each package.
	Versions map[string]int64 `json:"versions"`
	Tables   []Table          `json:"tables"`
	Files    Files            `json:"files"`
	Secret   bool             `json:"secret"` // the archive has the server's secret
}

// Table describes a table and its rows.
type Table struct {
	Name    string   `json:"name"`
	Columns []Column `json:"columns"` // sorted by name
	Rows    int64    `json:"rows"`
	// Last is the last number that Counter has assigned, used or not.
	Counter string `json:"counter,omitempty"` // column; "": the table counts nothing
	Last    int64  `json:"last,omitempty"`
	SHA256  string `json:"sha256"` // of the written rows, hexadecimal
}

// Column is a column with its kind, which does not depend on the database.
type Column struct {
	Name string `json:"name"`
	Kind string `json:"kind"` // integer, real, text, boolean or bytes
}

// Files describes the files of messages.
type Files struct {
	Left  bool  `json:"left,omitempty"` // they are not in the archive
	Count int64 `json:"count"`
	Bytes int64 `json:"bytes"`
	Gone  int64 `json:"gone,omitempty"` // deleted while the archive was written, or before
	// Damaged counts files whose content was not what was stored. They are left out.
	Damaged int64  `json:"damaged,omitempty"`
	SHA256  string `json:"sha256"` // of files.jsonl, which has a digest of each file
}

// Step is the progress of a long operation.
type Step struct {
	What        string // "rows", "files" or "check"
	Name        string // of the table; otherwise ""
	Done, Total int64  // rows, files, or checked bytes
}

// WriteOptions configures [Write].
type WriteOptions struct {
	// Media has the files of messages. nil: the archive does not include them, and
	// a restored server must use the same store.
	Media media.Store
	// Secret is included in the archive, which must then be kept as safe as the
	// secret itself. "": the archive has no secret, and a restore needs it
	// separately.
	Secret string
	// Program is the version of the program.
	Program string
	// SkipDamaged leaves out damaged files, instead of returning [ErrFileDamaged].
	SkipDamaged bool
	// Progress is called occasionally, from one goroutine.
	Progress func(Step)
	// Now is the clock. nil: time.Now.
	Now func() time.Time
}

// Write writes the content of db at one moment, and the files that belong to it, to
// w. The server may run at the same time, in this process or another. Later changes
// are not included. It returns [ErrCorrupt] and [ErrFileDamaged], so that no archive of
// damaged data replaces a sound one.
func Write(ctx context.Context, db *sqlx.DB, w io.Writer, opts *WriteOptions) (Manifest, error) {
	d, err := database.Of(ctx, db)
	if err != nil {
		return Manifest{}, fmt.Errorf("backup: %w", err)
	}
	o := WriteOptions{}
	if opts != nil {
		o = *opts
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Progress == nil {
		o.Progress = func(Step) {}
	}
	b := &writing{d: d, opts: o, out: newPacker(w)}
	if err := b.write(ctx); err != nil {
		return Manifest{}, fmt.Errorf("writing a backup: %w", cause(ctx, err))
	}
	return b.manifest, nil
}

// writing is the state of an archive that is being written.
type writing struct {
	d        *database.DB
	opts     WriteOptions
	out      *packer
	manifest Manifest
	files    []messaging.LibraryFile // in the database
}

func (b *writing) write(ctx context.Context) error {
	b.manifest = Manifest{
		Format: Format, Program: b.opts.Program, CreatedAt: b.opts.Now().UTC().Truncate(time.Second), Database: b.d.Dialect.String(),
		Files: Files{Left: b.opts.Media == nil}, Secret: b.opts.Secret != "",
	}
	if err := b.rows(ctx); err != nil {
		return err
	}
	if err := b.allFiles(ctx); err != nil {
		return err
	}
	if b.opts.Secret != "" {
		if err := b.out.text(secretPath, []byte(b.opts.Secret+"\n")); err != nil {
			return err
		}
	}
	if err := b.out.json(manifestPath, b.manifest); err != nil {
		return err
	}
	return b.out.close()
}

// countsFor is how long the rows of a large table may be counted.
const countsFor = time.Hour

// rows writes the rows of all tables as of one moment.
func (b *writing) rows(ctx context.Context) error {
	ctx = database.AllowSilence(ctx, countsFor)
	how := &sql.TxOptions{ReadOnly: true}
	if b.d.Dialect == database.Postgres {
		how.Isolation = sql.LevelRepeatableRead
	}
	tx, err := b.d.BeginTxx(ctx, how) // on SQLite a read-only transaction does not block writers
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // it was only read
	if problem, err := b.d.Dialect.QuickCheck(ctx, tx); err != nil {
		return err
	} else if problem != "" {
		return fmt.Errorf("%w: %s", ErrCorrupt, problem)
	}
	tables, versions, err := describe(ctx, b.d, tx)
	if err != nil {
		return err
	}
	b.manifest.Versions = versions
	var done, total int64
	counts := make([]int64, len(tables))
	for i, t := range tables { // the first query takes the snapshot
		if err := tx.GetContext(ctx, &counts[i], `SELECT count(*) FROM `+t.Name); err != nil {
			return fmt.Errorf("counting the rows of %s: %w", t.Name, err)
		}
		total += counts[i]
	}
	for i := range tables {
		t := &tables[i]
		e, err := b.out.entry(tablePath(t.Name))
		if err != nil {
			return err
		}
		err = t.dump(ctx, b.d, tx, e, func(n int64) { b.opts.Progress(Step{"rows", t.Name, done + n, total}) })
		if err != nil {
			return fmt.Errorf("reading the rows of %s: %w", t.Name, err)
		}
		done += t.Rows
		t.SHA256 = e.sum()
		b.opts.Progress(Step{"rows", t.Name, done, total})
		b.manifest.Tables = append(b.manifest.Tables, t.Table)
	}
	b.files, err = messaging.LibraryFiles(ctx, tx)
	return err
}

// fileLine is a line of files.jsonl.
type fileLine struct {
	ID     string `json:"id"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// allFiles writes the files that the rows refer to. It only counts files that were
// deleted meanwhile.
func (b *writing) allFiles(ctx context.Context) error {
	if b.opts.Media == nil {
		return nil
	}
	var lines []fileLine
	for i, f := range b.files {
		line, err := b.file(ctx, f)
		switch {
		case errors.Is(err, media.ErrNotFound):
			b.manifest.Files.Gone++
		case errors.Is(err, ErrFileDamaged) && b.opts.SkipDamaged:
			b.manifest.Files.Damaged++
		case err != nil:
			return err
		default:
			lines = append(lines, line)
			b.manifest.Files.Count++
			b.manifest.Files.Bytes += line.Bytes
		}
		b.opts.Progress(Step{"files", "", int64(i + 1), int64(len(b.files))})
	}
	e, err := b.out.entry(filesPath)
	if err != nil {
		return err
	}
	for _, l := range lines {
		if err := e.line(l); err != nil {
			return err
		}
	}
	b.manifest.Files.SHA256 = e.sum()
	return nil
}

func (b *writing) file(ctx context.Context, f messaging.LibraryFile) (fileLine, error) {
	id := f.ID
	obj, err := b.opts.Media.Open(ctx, id)
	if err != nil {
		return fileLine{}, err
	}
	defer obj.Close() //nolint:errcheck // it was only read
	e, err := b.out.stored(filePath(id))
	if err != nil {
		return fileLine{}, err
	}
	n, err := io.Copy(e, obj)
	if err != nil {
		return fileLine{}, fmt.Errorf("reading file %s: %w", id, err)
	}
	if f.SHA256 != "" && f.SHA256 != e.sum() {
		return fileLine{}, fmt.Errorf("%w: %s has other content than when it was stored", ErrFileDamaged, id)
	}
	return fileLine{id, n, e.sum()}, nil
}

const (
	manifestPath = "manifest.json"
	filesPath    = "files.jsonl"
	secretPath   = "secret"
)

func tablePath(name string) string { return "tables/" + name + ".jsonl" }
func filePath(id string) string    { return "files/" + id }
