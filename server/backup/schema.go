package backup

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
)

// whatsmeow is the prefix of the tables of the WhatsApp Web library, which stores
// their version in its own way.
const (
	whatsmeow        = "whatsmeow"
	whatsmeowVersion = "whatsmeow_version"
)

// table is a table of a database.
type table struct {
	Table
	key  []string          // of the primary key, in order
	refs []string          // tables that must be filled before
	read map[string]string // expression to read a column, if that is not its name
}

// column is a column in a catalogue.
type column struct {
	Name    string  `db:"name"`
	Type    string  `db:"type"`
	Key     int     `db:"pk"` // position in the primary key; 0: none
	Counts  bool    `db:"counts"`
	Default *string `db:"dflt"`
}

// describe returns the tables of our packages, each after those that it refers to,
// and the versions of the packages.
func describe(ctx context.Context, d *database.DB, q sqlx.QueryerContext) ([]table, map[string]int64, error) {
	names, err := d.Tables(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	versions, err := d.Versions(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	if slices.Contains(names, whatsmeowVersion) {
		var v []int64
		if err := sqlx.SelectContext(ctx, q, &v, `SELECT version FROM `+whatsmeowVersion); err != nil || len(v) != 1 {
			return nil, nil, fmt.Errorf("reading the version of the tables of %s: %w", whatsmeow, err)
		}
		versions[whatsmeow] = v[0]
	}
	var out []table
	for _, name := range names {
		if name == whatsmeowVersion || strings.HasSuffix(name, "_schema_version") || !ours(name, versions) {
			continue
		}
		t, err := describeTable(ctx, d, q, name)
		if err != nil {
			return nil, nil, fmt.Errorf("reading how table %s is made: %w", name, err)
		}
		out = append(out, t)
	}
	return sorted(out), versions, nil
}

// ours reports whether a table belongs to one of the packages that have versions.
func ours(table string, versions map[string]int64) bool {
	for pkg := range versions {
		if strings.HasPrefix(table, pkg+"_") {
			return true
		}
	}
	return false
}

func describeTable(ctx context.Context, d *database.DB, q sqlx.QueryerContext, name string) (table, error) {
	t := table{Table: Table{Name: name}, read: map[string]string{}}
	columnsOf, refsOf := liteColumns, liteRefs
	if d.Dialect == database.Postgres {
		columnsOf, refsOf = pgColumns, pgRefs
	}
	var cs []column
	if err := sqlx.SelectContext(ctx, q, &cs, columnsOf, name); err != nil {
		return t, err
	}
	if err := sqlx.SelectContext(ctx, q, &t.refs, refsOf, name); err != nil {
		return t, err
	}
	t.refs = slices.DeleteFunc(t.refs, func(r string) bool { return r == name })
	slices.SortFunc(cs, func(a, b column) int { return a.Key - b.Key })
	for _, c := range cs {
		kind := kindOf(c.Type)
		if kind == "" {
			return t, fmt.Errorf("column %s has the type %s, which no backup can hold", c.Name, c.Type)
		}
		t.Columns = append(t.Columns, Column{c.Name, kind})
		if c.Key > 0 {
			t.key = append(t.key, c.Name)
		}
		if c.Counts {
			t.Counter = c.Name
		}
		switch {
		case c.Default != nil && strings.Contains(*c.Default, "pg_current_xact_id"):
			t.read[c.Name] = "0" // transaction numbers mean nothing in another database
		case strings.EqualFold(c.Type, "uuid"):
			t.read[c.Name] = "CAST(" + quoted(c.Name) + " AS TEXT)"
		}
	}
	slices.SortFunc(t.Columns, func(a, b Column) int { return strings.Compare(a.Name, b.Name) })
	if t.Counter == "" {
		return t, nil
	}
	last := `SELECT COALESCE(MAX(seq), 0) FROM sqlite_sequence WHERE name = $1`
	args := []any{name}
	if d.Dialect == database.Postgres {
		last = `SELECT COALESCE(pg_sequence_last_value(CAST(pg_get_serial_sequence($1, $2) AS regclass)), 0)`
		args = append(args, t.Counter)
	}
	return t, sqlx.GetContext(ctx, q, &t.Last, last, args...)
}

const (
	liteColumns = `SELECT c.name, c.type, c.pk, c.pk > 0 AND m.sql LIKE '%AUTOINCREMENT%' AS counts, c.dflt_value AS dflt
		FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table' AND m.name = $1`
	liteRefs = `SELECT DISTINCT "table" FROM pragma_foreign_key_list($1) ORDER BY 1`

	pgColumns = `SELECT a.attname AS name, format_type(a.atttypid, NULL) AS type,
			COALESCE(array_position(CAST(i.indkey AS int2[]), a.attnum) + 1, 0) AS pk,
			a.attidentity <> '' AS counts, pg_get_expr(f.adbin, f.adrelid) AS dflt
		FROM pg_attribute a
		LEFT JOIN pg_index i ON i.indrelid = a.attrelid AND i.indisprimary
		LEFT JOIN pg_attrdef f ON f.adrelid = a.attrelid AND f.adnum = a.attnum
		WHERE a.attrelid = CAST($1 AS regclass) AND a.attnum > 0 AND NOT a.attisdropped`
	pgRefs = `SELECT DISTINCT r.relname FROM pg_constraint c JOIN pg_class r ON r.oid = c.confrelid
		WHERE c.conrelid = CAST($1 AS regclass) AND c.contype = 'f' ORDER BY 1`
)

// kindOf returns the kind of columns of a type, "" if it is unknown.
func kindOf(declared string) string {
	declared = strings.ToUpper(declared)
	for _, k := range []struct{ part, kind string }{
		{"BOOL", "boolean"},
		{"INT", "integer"},
		{"BYTEA", "bytes"},
		{"BLOB", "bytes"},
		{"TEXT", "text"},
		{"CHAR", "text"},
		{"UUID", "text"},
		{"DOUBLE", "real"},
		{"REAL", "real"},
	} {
		if strings.Contains(declared, k.part) {
			return k.kind
		}
	}
	return ""
}

// sorted sorts tables so that each comes after those that it refers to.
func sorted(tables []table) []table {
	var out []table
	placed := map[string]bool{}
	for len(out) < len(tables) {
		before := len(out)
		for _, t := range tables {
			waits := slices.ContainsFunc(t.refs, func(r string) bool { return !placed[r] })
			if !placed[t.Name] && !waits {
				out, placed[t.Name] = append(out, t), true
			}
		}
		if len(out) == before {
			panic("tables refer to each other in a circle")
		}
	}
	return out
}

func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
