package backup

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/provider/web"
	"github.com/trunklinehq/trunkline/server"
)

// TestOwned has a condition for each table of a server, which SQLite accepts.
func TestOwned(t *testing.T) {
	t.Parallel()
	db := testkit.Open(t, testkit.SQLiteURL(t))
	for _, migrate := range []func(context.Context, *sqlx.DB) error{server.Migrate, web.Migrate} {
		require.NoError(t, migrate(t.Context(), db))
	}
	d, err := database.Of(t.Context(), db)
	require.NoError(t, err)
	tables, _, err := describe(t.Context(), d, d)
	require.NoError(t, err)
	all, err := d.Tables(t.Context(), d)
	require.NoError(t, err)
	for _, name := range all {
		described := slices.ContainsFunc(tables, func(t table) bool { return t.Name == name })
		require.True(t, described || strings.HasSuffix(name, "_schema_version") || name == whatsmeowVersion, "table %s is in no backup", name)
	}
	conditions, err := owned(t.Context(), d, tables)
	require.NoError(t, err)
	for _, name := range slices.Concat(slices.Collect(maps.Keys(rules)), shared) {
		require.True(t, slices.ContainsFunc(tables, func(t table) bool { return t.Name == name }), "there is no table %s", name)
	}
	for _, tab := range tables {
		if conditions[tab.Name] == "" {
			continue
		}
		var n int
		require.NoError(t, d.GetContext(t.Context(), &n, `SELECT count(*) FROM `+tab.Name+` WHERE `+conditions[tab.Name], "acc"), tab.Name)
		require.Zero(t, n)
	}
	tables = append(tables, table{Table: Table{Name: "new_table", Columns: []Column{{"id", "text"}}}})
	_, err = owned(t.Context(), d, tables)
	require.ErrorContains(t, err, "new_table", "a table without a rule is noticed")
}
