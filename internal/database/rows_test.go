package database_test

import (
	"fmt"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// TestRows stores, changes and finds rows, so many that lists are filled up
// and divided, and so often that their statements are prepared.
func TestRows(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		d := setup(t, db)
		db.MustExec(`CREATE TABLE y (n BIGINT PRIMARY KEY, s TEXT, b BOOLEAN)`)
		type row struct {
			N int64
			S string
			B bool
		}
		types := []string{"BIGINT", "TEXT", "BOOLEAN"}
		for range 6 {
			for _, n := range []int{0, 1, 3, 64, 65, 127, 1030} {
				db.MustExec(`DELETE FROM y`)
				var values, keys, changes []any
				var want []row
				for i := range n {
					values = append(values, i, fmt.Sprint(i), i%2 == 0)
					keys, changes = append(keys, i), append(changes, i, fmt.Sprint(i, `"`))
					want = append(want, row{int64(i), fmt.Sprint(i, `"`), i%2 == 0})
				}
				require.NoError(t, d.InTx(t.Context(), func(tx *database.Tx) error {
					for range 2 { // again: nothing is new
						added, err := database.SelectRows[int64](t.Context(), d, tx, database.Rows{
							Before: `INSERT INTO y (n, s, b) `, After: ` ON CONFLICT (n) DO NOTHING RETURNING n`, Types: types, Values: values,
						})
						require.NoError(t, err)
						require.True(t, len(added) == n || len(added) == 0, len(added))
					}
					return d.ExecRows(t.Context(), tx, database.Rows{
						Before: `UPDATE y SET s = v.column2 FROM (`, After: `) AS v WHERE y.n = v.column1`,
						Types: types[:2], Values: changes, Set: true,
					})
				}))
				tx, err := db.Beginx() // a caller's
				require.NoError(t, err)
				joined, err := d.Join(tx)
				require.NoError(t, err)
				got, err := database.SelectRows[row](t.Context(), d, joined, database.Rows{
					Before: `SELECT n, s, b FROM y WHERE n IN (`, After: `) ORDER BY n`, Types: types[:1], Values: keys, Set: true,
				})
				require.NoError(t, err)
				require.NoError(t, tx.Rollback())
				require.Equal(t, want, got)
			}
		}
	})
}
