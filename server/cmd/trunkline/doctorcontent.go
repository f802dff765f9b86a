package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/messaging/media"
)

// restoreCure says what to do about a database that is damaged.
const restoreCure = "stop the server, keep a copy of the database, and restore the newest backup"

// content looks for damage in the database: of SQLite in its pages, of PostgreSQL in the
// indexes of the tables, where the extension amcheck is installed. See
// https://www.postgresql.org/docs/current/amcheck.html.
func (d *doctor) content(ctx context.Context) {
	const check = "content"
	db, err := database.Of(ctx, d.db)
	if err != nil {
		d.bad(check, oneLine(err.Error()), "check the database")
		return
	}
	if db.Dialect == database.Postgres {
		d.indexes(database.Chore(ctx), db)
		return
	}
	problem, err := db.Dialect.QuickCheck(ctx, d.db)
	switch {
	case err != nil:
		d.bad(check, oneLine(err.Error()), "check the disk")
	case problem != "":
		d.bad(check, "the database is corrupt: "+oneLine(problem), restoreCure)
	default:
		d.ok(check, "all pages of the database are sound")
	}
}

// indexes checks the indexes of the tables with amcheck.
func (d *doctor) indexes(ctx context.Context, db *database.DB) {
	const check = "content"
	var installed bool
	err := db.GetContext(ctx, &installed, `SELECT EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'amcheck')`)
	if err == nil && !installed {
		d.ok(check, "indexes are not checked: the extension amcheck is not installed")
		return
	}
	var names []string
	if err == nil {
		err = db.SelectContext(ctx, &names, `SELECT c.oid::regclass::text FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
			JOIN pg_am a ON a.oid = c.relam JOIN pg_namespace n ON n.oid = c.relnamespace
			WHERE a.amname = 'btree' AND i.indisvalid AND n.nspname = current_schema() AND c.relkind = 'i' ORDER BY 1`)
	}
	var broken []string
	for _, name := range names {
		if err != nil {
			break
		}
		_, err = db.ExecContext(ctx, `SELECT bt_index_check($1::regclass)`, name)
		if isCorrupt(err) {
			broken, err = append(broken, name), nil
		}
	}
	switch {
	case err != nil:
		d.warn(check, "indexes could not be checked: "+oneLine(err.Error()), "let the user of the database execute bt_index_check, or drop the extension amcheck")
	case len(broken) > 0:
		d.bad(check, "corrupt indexes: "+some(broken), "REINDEX them, and look for the cause: a disk, or another version of the C library")
	default:
		d.ok(check, "all %d indexes are sound", len(names))
	}
}

// isCorrupt reports whether an error of PostgreSQL means damage. See
// https://www.postgresql.org/docs/current/errcodes-appendix.html.
func isCorrupt(err error) bool {
	var pg interface{ SQLState() string }
	return errors.As(err, &pg) && (pg.SQLState() == "XX001" || pg.SQLState() == "XX002")
}

// stored reads the files of messages and compares them with what was stored, if that
// was asked for.
func (d *doctor) stored(ctx context.Context) {
	const check = "files"
	if !d.files {
		return
	}
	store, err := openMedia(ctx, d.set)
	var db *database.DB
	if err == nil {
		db, err = database.Of(ctx, d.db)
	}
	var all []messaging.LibraryFile
	if err == nil {
		all, err = messaging.LibraryFiles(database.Chore(ctx), db)
	}
	if err != nil {
		d.bad(check, oneLine(err.Error()), "check --media and the database")
		return
	}
	var damaged, missing []string
	unknown := 0
	for _, f := range all {
		sum, err := digestOf(ctx, store, f.ID)
		switch {
		case errors.Is(err, media.ErrNotFound):
			missing = append(missing, f.ID)
		case err != nil:
			d.bad(check, "file "+f.ID+" cannot be read: "+oneLine(err.Error()), "check the disk or the bucket")
			return
		case f.SHA256 == "":
			unknown++
		case sum != f.SHA256:
			damaged = append(damaged, f.ID)
		}
	}
	cure := "put them back from a backup, or delete their messages"
	if len(damaged) > 0 {
		d.bad(check, fmt.Sprintf("%d of %d files are damaged: %s", len(damaged), len(all), some(damaged)), cure)
	}
	if len(missing) > 0 {
		d.bad(check, fmt.Sprintf("%d of %d files are missing: %s", len(missing), len(all), some(missing)), cure)
	}
	if len(damaged)+len(missing) == 0 {
		d.ok(check, "%d files are what was stored, %d more are there, of which no digest was kept", len(all)-unknown, unknown)
	}
}

// digestOf returns the digest of the content of a file, in hexadecimal.
func digestOf(ctx context.Context, store media.Store, id string) (string, error) {
	obj, err := store.Open(ctx, id)
	if err != nil {
		return "", err
	}
	defer obj.Close() //nolint:errcheck // it was only read
	sum := sha256.New()
	if _, err := io.Copy(sum, obj); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// maxNames is how many names are printed.
const maxNames = 20

// some returns the first of names as one text.
func some(names []string) string {
	if len(names) > maxNames {
		return strings.Join(names[:maxNames], ", ") + " …"
	}
	return strings.Join(names, ", ")
}
