package database_test

import (
	"testing"
	"testing/fstest"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// TestStopAt creates tables of an earlier version, and upgrades them later.
func TestStopAt(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		ctx := t.Context()
		d, err := database.Of(ctx, db)
		require.NoError(t, err)
		none, err := d.Versions(ctx, db)
		require.NoError(t, err)
		require.Empty(t, none)

		_, files := files()
		q := fstest.MapFS{"migrations/00001_q.sql": migration(`CREATE TABLE q_a (n BIGINT);`)}
		d.StopAt(map[string]int64{"p": 2})
		require.NoError(t, database.Migrate(ctx, db, "p", files))
		require.NoError(t, database.Migrate(ctx, db, "q", q))
		got, err := d.Versions(ctx, db)
		require.NoError(t, err)
		require.Equal(t, map[string]int64{"p": 2, "q": 0}, got)
		tables, err := d.Tables(ctx, db)
		require.NoError(t, err)
		require.Equal(t, []string{"p_a", "p_b", "p_schema_version", "q_schema_version"}, tables)
		require.NoError(t, database.Migrate(ctx, db, "p", files), "again")

		d.StopAt(nil)
		require.NoError(t, database.Migrate(ctx, db, "p", files))
		require.NoError(t, database.Migrate(ctx, db, "q", q))
		got, err = d.Versions(ctx, db)
		require.NoError(t, err)
		require.Equal(t, map[string]int64{"p": 3, "q": 1}, got)
	})
}
