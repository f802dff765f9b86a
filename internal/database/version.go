package database

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"

	"github.com/jmoiron/sqlx"
)

// versionTable is the suffix of the tables that record migrations: that of package
// x is x_schema_version.
const versionTable = "_schema_version"

// versions are the versions of the tables of each package at the first call of
// [Migrate] on a handle: one look for all packages.
type versions struct {
	mu    sync.Mutex
	found map[string]int64 // nil: not read yet
}

// at reports whether the tables of a package have a version. It reports false if
// the versions cannot be read.
func (v *versions) at(ctx context.Context, d *DB, pkg string, version int64) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.found == nil {
		found, err := d.Versions(ctx, d.DB)
		if err != nil {
			return false
		}
		v.found = found
	}
	found, known := v.found[pkg]
	return known && found == version
}

// forget makes the next call of at read the versions again.
func (v *versions) forget() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.found = nil
}

// Versions returns the versions of the tables of each package, by the names given
// to [Migrate]. It is empty for a database without tables. q is the database or a
// transaction of it.
func (d *DB) Versions(ctx context.Context, q sqlx.QueryerContext) (map[string]int64, error) {
	tables, err := d.Tables(ctx, q)
	if err != nil {
		return nil, err
	}
	out := map[string]int64{}
	var parts []string
	for _, table := range tables {
		if pkg, is := strings.CutSuffix(table, versionTable); is {
			parts = append(parts, `SELECT '`+pkg+`' AS pkg, COALESCE(MAX(version_id), 0) AS version FROM `+table+` WHERE is_applied`)
		}
	}
	if len(parts) == 0 {
		return out, nil
	}
	var rows []struct {
		Pkg     string
		Version int64
	}
	if err := sqlx.SelectContext(ctx, q, &rows, strings.Join(parts, " UNION ALL ")); err != nil {
		return nil, fmt.Errorf("reading the versions of the tables: %w", err)
	}
	for _, row := range rows {
		out[row.Pkg] = row.Version
	}
	return out, nil
}

// Tables returns the names of all tables, sorted, without those of SQLite's full-text
// indexes. q is the database or a transaction of it.
func (d *DB) Tables(ctx context.Context, q sqlx.QueryerContext) ([]string, error) {
	list := `SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY name`
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
func (d *DB) StopAt(versions map[string]int64) {
	d.stops = versions
	d.versions.forget()
}

func (d *DB) stopAt(pkg string) int64 {
	if d.stops == nil {
		return math.MaxInt64
	}
	return d.stops[pkg]
}
