package backup

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/database/open"
)

// VersionsOf returns the versions of the tables of a database, by package.
func VersionsOf(ctx context.Context, db *sqlx.DB) (map[string]int64, error) {
	d, err := database.Of(ctx, db)
	if err != nil {
		return nil, err
	}
	_, versions, err := describe(ctx, d, db)
	return versions, err
}

// VersionsAfter returns the versions to which migrate upgrades a database. It tries
// that on an empty database.
func VersionsAfter(ctx context.Context, migrate func(context.Context, *sqlx.DB) error) (map[string]int64, error) {
	dir, err := os.MkdirTemp("", "trunkline-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	db, err := open.Open(ctx, "sqlite://"+filepath.Join(dir, "empty.db")+"?synchronous=normal")
	if err != nil {
		return nil, err
	}
	defer db.Close() //nolint:errcheck // its content does not matter
	if err := migrate(ctx, db); err != nil {
		return nil, noRoom(err, dir)
	}
	return VersionsOf(ctx, db)
}

// noRoom names the folder whose disk is full if an error of a temporary database means
// that.
func noRoom(err error, dir string) error {
	if database.IsFull(err) {
		return fmt.Errorf("the disk of %s is full, set TMPDIR to another folder: %w", filepath.Dir(dir), err)
	}
	return err
}

// Compare returns the packages whose tables are older than a program expects, and
// those whose tables are newer, sorted.
func Compare(have, known map[string]int64) (older, newer []string) {
	for _, pkg := range slices.Sorted(maps.Keys(have)) {
		if have[pkg] > known[pkg] {
			newer = append(newer, pkg)
		}
	}
	for _, pkg := range slices.Sorted(maps.Keys(known)) {
		if have[pkg] < known[pkg] {
			older = append(older, pkg)
		}
	}
	return older, newer
}
