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

// TestExecTogether writes to several tables, in parts if there are many rows, and with
// one statement on PostgreSQL otherwise.
func TestExecTogether(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		seen, asked := testkit.Counting(t, db)
		d := setup(t, seen)
		for _, table := range []string{"one", "two", "three"} {
			seen.MustExec(`CREATE TABLE ` + table + `_list (n BIGINT PRIMARY KEY, s TEXT)`)
		}
		insert := func(table string, from, to int) database.Rows {
			r := database.Rows{Before: `INSERT INTO ` + table + `_list (n, s) `, Types: []string{"BIGINT", "TEXT"}}
			for n := from; n < to; n++ {
				r.Values = append(r.Values, n, fmt.Sprint(n, `"`))
			}
			return r
		}
		for round := range 6 { // the statements are prepared after some
			first, before := 10*round, asked.Of("_list")
			require.NoError(t, d.InTx(t.Context(), func(tx *database.Tx) error {
				return d.ExecTogether(t.Context(), tx, insert("one", first, first+2), insert("two", 0, 0), insert("three", first, first+1), database.Rows{
					Before: `UPDATE two_list SET s = v.column2 FROM (`, After: `) AS v WHERE two_list.n = v.column1`,
					Types: []string{"BIGINT", "TEXT"}, Values: []any{first, "new"}, Set: true,
				})
			}))
			if d.Dialect == database.Postgres {
				require.Equal(t, 1, asked.Of("_list")-before)
			}
		}
		require.NoError(t, d.InTx(t.Context(), func(tx *database.Tx) error {
			if err := d.ExecTogether(t.Context(), tx); err != nil {
				return err
			}
			return d.ExecTogether(t.Context(), tx, insert("one", 1000, 3500), insert("two", 1000, 1002), insert("three", 1000, 1001))
		}))
		for table, want := range map[string]int{"one": 12 + 2500, "two": 2, "three": 6 + 1} {
			var n int
			require.NoError(t, seen.GetContext(t.Context(), &n, `SELECT COUNT(*) FROM `+table+`_list WHERE s = n || '"'`))
			require.Equal(t, want, n, table)
		}
		err := d.InTx(t.Context(), func(tx *database.Tx) error {
			return d.ExecTogether(t.Context(), tx, insert("two", 1, 2), insert("one", 1000, 1001))
		})
		require.True(t, database.IsUnique(err), err)
		var n int
		require.NoError(t, seen.GetContext(t.Context(), &n, `SELECT COUNT(*) FROM two_list WHERE n = 1`))
		require.Zero(t, n, "all of it is undone")
	})
}
