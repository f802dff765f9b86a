package database

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/jmoiron/sqlx"
)

// versionTable is the suffix of the tables that record migrations: that of package
// x is x_schema_version.
const versionTable = "_schema_version"

// Versions returns the versions of the tables of each package, by the names given
// to [Migrate]. It is empty for a database without tables. q is the database or a
// transaction of it.
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

// Tables returns the names of all tables, sorted. q is the database or a
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

// StopAt makes [Migrate] on this handle stop at these versions and skip packages
// without one: to restore the data of an older program, the tables must have its
// version. nil removes the limit. It must not be called while Migrate runs.
func (d *DB) StopAt(versions map[string]int64) { d.stops = versions }

func (d *DB) stopAt(pkg string) int64 {
	if d.stops == nil {
		return math.MaxInt64
	}
	return d.stops[pkg]
}
