package database

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/jmoiron/sqlx"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

// ErrNewer reports that a newer version of this module has written the tables.
var ErrNewer = errors.New("database: the database is newer than this program")

// Migrate upgrades the tables of one package to the newest version in the folder
// "migrations" of files, which has goose migrations. A file serves both dialects:
// {identity} is an automatic key, {bytewise} a bytewise collation, {transaction}
// the number of the transaction as a default. Where dialects differ further, there
// are two files, NAME.sqlite.sql and NAME.postgres.sql. NAME.fts5.sqlite.sql does nothing
// if SQLite was built without its full-text indexes. Migrate returns [ErrNewer]
// if the tables are newer than the files. The first call on a handle reads the
// versions of all packages; where they are the newest, later calls ask nothing.
func Migrate(ctx context.Context, db *sqlx.DB, pkg string, files fs.FS) error {
	d, err := Of(ctx, db)
	if err != nil {
		return err
	}
	sub, err := fs.Sub(files, "migrations")
	if err != nil {
		return fmt.Errorf("%s migrations: %w", pkg, err)
	}
	own := oneDialect{FS: sub, dialect: d.Dialect}
	names, err := own.Glob("*.sql")
	if err != nil {
		return fmt.Errorf("%s migrations: %w", pkg, err)
	}
	list := strings.Join(names, " ")
	if done, _ := d.migrated.Load(pkg); done == list && d.stops == nil {
		return nil
	}
	if d.stops != nil || !d.versions.at(ctx, d, pkg, newest(names)) {
		if err := apply(ctx, d, pkg, own); err != nil {
			return fmt.Errorf("%s migrations: %w", pkg, err)
		}
	}
	if d.stops == nil {
		d.migrated.Store(pkg, list)
	}
	return nil
}

// newest returns the greatest version of migration files, which begins their
// names.
func newest(names []string) (version int64) {
	for _, name := range names {
		digits, _, _ := strings.Cut(name, "_")
		if v, err := strconv.ParseInt(digits, 10, 64); err == nil {
			version = max(version, v)
		}
	}
	return version
}

// apply applies the missing migrations of one package.
func apply(ctx context.Context, d *DB, pkg string, files oneDialect) error {
	dialect := goose.DialectSQLite3
	if d.Dialect == SQLite && !files.plain {
		err := d.GetContext(ctx, &files.plain, `SELECT NOT EXISTS (SELECT 1 FROM pragma_module_list WHERE name = 'fts5')`)
		if err != nil {
			return err
		}
	}
	opts := []goose.ProviderOption{goose.WithTableName(pkg + versionTable)}
	if d.Dialect == Postgres {
		dialect = goose.DialectPostgres
		locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 300)) // seconds between attempts, attempts
		if err != nil {
			return err
		}
		opts = append(opts, goose.WithSessionLocker(locker))
	}
	p, err := goose.NewProvider(dialect, d.DB.DB, files, opts...)
	if err != nil {
		return err
	}
	return up(AllowSilence(ctx, buildSilence), p, pkg, d.stopAt(pkg))
}

// up applies missing migrations, but none after stop. SQLite has no lock across
// migrations, so two programs that start together may both apply one. The second
// fails without changing anything, and continues after the first.
func up(ctx context.Context, p *goose.Provider, pkg string, stop int64) error {
	var failed error
	for before := int64(-1); ; {
		current, target, err := p.GetVersions(ctx)
		switch {
		case err != nil:
			return err
		case current > target:
			return fmt.Errorf("%w: the tables of %s have version %d, this program knows %d: start the version that wrote them, or a later one",
				ErrNewer, pkg, current, target)
		case current == target || current >= stop:
			return nil
		case current == before: // no other process has made progress
			return failed
		}
		before = current
		if _, failed = p.UpTo(ctx, min(stop, target)); failed == nil {
			return nil
		}
	}
}
