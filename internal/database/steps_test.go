package database_test

import (
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// TestInSteps deletes 25 rows, ten with each transaction.
func TestInSteps(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		db.MustExec(`CREATE TABLE word (id BIGINT PRIMARY KEY)`)
		for i := range 25 {
			db.MustExec(`INSERT INTO word (id) VALUES ($1)`, i)
		}
		seen, asked := testkit.Counting(t, db)
		d, err := database.Of(t.Context(), seen)
		require.NoError(t, err)
		before := asked.Transactions.Load()
		require.NoError(t, d.InSteps(t.Context(), `DELETE FROM word WHERE id IN (SELECT id FROM word WHERE id > $1 LIMIT 10)`, -1))
		require.EqualValues(t, 4, asked.Transactions.Load()-before, "the last one finds nothing")
		var left int
		require.NoError(t, db.Get(&left, `SELECT count(*) FROM word`))
		require.Zero(t, left)
		require.Error(t, d.InSteps(t.Context(), `DELETE FROM nothing`))
	})
}
