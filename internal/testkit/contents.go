package testkit

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"
)

// Contents returns every row of every table as text, prefixed by the name of its
// table, without the full-text indexes of SQLite.
func Contents(t testing.TB, db *sqlx.DB) []string {
	t.Helper()
	q := `SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'`
	if db.DriverName() == "postgres" {
		q = `SELECT tablename FROM pg_tables WHERE schemaname = current_schema()`
	}
	var tables, out []string
	require.NoError(t, db.SelectContext(t.Context(), &tables, q))
	for _, table := range tables {
		out = append(out, rowsOf(t, db, table)...)
	}
	return out
}

func rowsOf(t testing.TB, db *sqlx.DB, table string) (out []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), `SELECT * FROM `+table)
	require.NoError(t, err)
	defer rows.Close() //nolint:errcheck // Err returns the error
	for rows.Next() {
		row, err := sqlx.SliceScan(rows)
		require.NoError(t, err)
		var text strings.Builder
		text.WriteString(table)
		for _, v := range row {
			if b, ok := v.([]byte); ok {
				v = string(b)
			}
			fmt.Fprintf(&text, " | %v", v)
		}
		out = append(out, text.String())
	}
	require.NoError(t, rows.Err())
	return out
}

// Holding returns the rows of [Contents] that contain a word, in any case.
func Holding(t testing.TB, db *sqlx.DB, word string) []string {
	t.Helper()
	found := []string{}
	for _, row := range Contents(t, db) {
		if strings.Contains(strings.ToLower(row), strings.ToLower(word)) {
			found = append(found, row)
		}
	}
	return found
}
