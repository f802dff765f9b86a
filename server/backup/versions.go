package backup

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/database/open"
)

// VersionsOf are the versions of the tables of a database, by package.
func VersionsOf(ctx context.Context, db *sqlx.DB) (map[string]int64, error) {
	d, err := database.Of(ctx, db)
	if err != nil {
		return nil, err
	}
	_, versions, err := describe(ctx, d, db)
	return versions, err
}

// VersionsAfter are those to which migrate brings a database, found out on an
// empty one.
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
	defer db.Close() //nolint:errcheck // nothing of it is kept
	if err := migrate(ctx, db); err != nil {
		return nil, err
	}
	return VersionsOf(ctx, db)
}

// Compare names the packages whose tables are older than a program knows them,
// and those whose tables are newer, in order.
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
