package database_test

import (
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

func TestDialectValues(t *testing.T) {
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		d := setup(t, db)
		db.MustExec(`INSERT INTO x (n) VALUES `+d.Dialect.Values(3, 1, 1), 1, 2, 3)
		var ns []int
		require.NoError(t, db.Select(&ns, `SELECT n + $1 FROM x WHERE n > $2 AND n IN `+d.Dialect.Values(1, 2, 3), 10, 1, 1, 3))
		require.Equal(t, []int{13}, ns)
		require.NoError(t, db.Select(&ns, `SELECT CAST(column1 AS BIGINT) FROM (VALUES `+d.Dialect.Values(2, 1, 1, "BIGINT")+`) v ORDER BY 1`, 5, 4))
		require.Equal(t, []int{4, 5}, ns)
	})
	require.Equal(t, "(?,?),(?,?)", database.SQLite.Values(2, 2, 1))
	require.Equal(t, "($1,$2),($3,$4)", database.Postgres.Values(2, 2, 1))
}

// BenchmarkValues inserts 500 rows of ten columns with both spellings.
func BenchmarkValues(b *testing.B) {
	for name, dialect := range map[string]database.Dialect{"named": database.Postgres, "anonymous": database.SQLite} {
		b.Run(name, func(b *testing.B) {
			db := testkit.Open(b, testkit.SQLiteURL(b))
			db.MustExec(`CREATE TABLE w (a, b, c, d, e, f, g, h, i, j)`)
			args := make([]any, 5000)
			for i := range args {
				args[i] = i
			}
			text := `INSERT INTO w VALUES ` + dialect.Values(500, 10, 1)
			for b.Loop() {
				db.MustExec(text, args...)
			}
		})
	}
}
