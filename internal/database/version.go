package database

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/jmoiron/sqlx"
)

// versionTable ends the names of the tables in which migrations are noted:
// that of package x is x_schema_version.
const versionTable = "_schema_version"

// Versions are the versions of the tables of each package, by the names that
// were given to [Migrate]. A database without tables has none. q is the
// database or a transaction of it.
func (d *DB) Versions(ctx context.Context, q sqlx.QueryerContext) (map[string]int64, error) {
	tables, err := d.Tables(ctx, q)
	if err != nil {
		return nil, err
	}
	out := map[string]int64{}
	for _, table := range tables {
		pkg, is := strings.CutSuffix(table, versionTable)
		if !is {
			continue
		}
		var v int64
		if err := sqlx.GetContext(ctx, q, &v, `SELECT COALESCE(MAX(version_id), 0) FROM `+table+` WHERE is_applied`); err != nil {
			return nil, fmt.Errorf("reading the version of the tables of %s: %w", pkg, err)
		}
		out[pkg] = v
	}
	return out, nil
}

// Tables are the names of all tables, in order. q is the database or a
// transaction of it.
func (d *DB) Tables(ctx context.Context, q sqlx.QueryerContext) ([]string, error) {
	list := `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY name`
	if d.Dialect == Postgres {
		list = `SELECT tablename FROM pg_tables WHERE schemaname = current_schema() ORDER BY tablename COLLATE "C"`
	}
	var out []string
	if err := sqlx.SelectContext(ctx, q, &out, list); err != nil {
		return nil, fmt.Errorf("listing the tables: %w", err)
	}
	return out, nil
}

// StopAt makes [Migrate] go no further than these versions, and leave out the
// packages that are not named, on this handle: what an older program wrote is
// put back into tables as it knew them. nil: there is no bound any more. It
// must not be called while Migrate runs.
func (d *DB) StopAt(versions map[string]int64) { d.stops = versions }

func (d *DB) stopAt(pkg string) int64 {
	if d.stops == nil {
		return math.MaxInt64
	}
	return d.stops[pkg]
}
