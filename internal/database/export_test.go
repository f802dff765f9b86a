package database

import (
	"context"
	"io/fs"

	"github.com/jmoiron/sqlx"
)

// MigratePlain is [Migrate] for a SQLite without full-text indexes; the files are in the
// folder itself.
func MigratePlain(ctx context.Context, db *sqlx.DB, pkg string, files fs.FS) error {
	d, err := Of(ctx, db)
	if err != nil {
		return err
	}
	return apply(ctx, d, pkg, oneDialect{FS: files, dialect: d.Dialect, plain: true})
}
