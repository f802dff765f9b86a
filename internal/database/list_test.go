package database_test

import (
	"fmt"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// TestList writes and reads back what has a meaning in a list.
func TestList(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		d := setup(t, db)
		db.MustExec(`CREATE TABLE y (n BIGINT, s TEXT, b BOOLEAN)`)
		type row struct {
			N int64
			S string
			B bool
		}
		want := []row{{1, ``, true}, {2, `"`, false}, {3, `\"{},NULL`, true}, {4, `NULL`, false}, {-5, "ü\n\t '", true}}
		var values, texts []any
		for _, r := range want {
			values = append(values, r.N, r.S, r.B)
			texts = append(texts, r.S)
		}
		list, args := d.Dialect.List(2, []string{"BIGINT", "TEXT", "BOOLEAN"}, values)
		d.MustExec(`INSERT INTO y (n, s, b) SELECT column1 + $1, column2, column3 FROM (`+list+`) AS v`, append([]any{10}, args...)...)
		in, args := d.Dialect.In("s", 2, texts[1:])
		var got []row
		require.NoError(t, d.Select(&got, `SELECT n - $1 AS n, s, b FROM y WHERE `+in+` ORDER BY y.n`, append([]any{10}, args...)...))
		require.Equal(t, append(want[4:], want[1:4]...), got)

		// A parameter after it keeps its number, and so does one that is twice.
		in, args = d.Dialect.In("s", 1, texts[1:])
		got = nil
		require.NoError(t, d.Select(&got, `SELECT n - $2 AS n, s, b FROM y WHERE `+in+` AND n > $3 ORDER BY y.n LIMIT $4`, append(args, 10, 12, 1)...))
		require.Equal(t, want[2:3], got)
		one, first := d.Dialect.In("s", 2, texts[3:4])
		both, more := d.Dialect.In("s", 3, texts)
		got = nil
		require.NoError(t, d.Select(&got, `SELECT n - $1 AS n, s, b FROM y WHERE `+both+` AND `+one+` AND n > $1`, append(append([]any{10}, first...), more...)...))
		require.Equal(t, want[3:4], got)

		in, args = d.Dialect.InNumbers("n", 2, []int64{12, 5, 99})
		got = nil
		require.NoError(t, d.Select(&got, `SELECT n - $1 AS n, s, b FROM y WHERE `+in+` ORDER BY y.n`, append([]any{10}, args...)...))
		require.Equal(t, []row{want[4], want[1]}, got)
	})
}

// TestInsert inserts few rows, many, and an odd number.
func TestInsert(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		d := setup(t, db)
		db.MustExec(`CREATE TABLE y (n BIGINT, s TEXT)`)
		for _, rows := range []int{0, 1, 16, 31, 32, 33, 500} {
			var values []any
			for i := range rows {
				values = append(values, i, fmt.Sprint(i))
			}
			db.MustExec(`DELETE FROM y`)
			require.NoError(t, d.InTx(t.Context(), func(tx *database.Tx) error {
				return d.Insert(t.Context(), tx, `INSERT INTO y (n, s)`, []string{"BIGINT", "TEXT"}, values)
			}))
			var n, right int
			require.NoError(t, d.Get(&n, `SELECT count(DISTINCT n) FROM y`))
			require.NoError(t, d.Get(&right, `SELECT count(*) FROM y WHERE CAST(n AS TEXT) = s`))
			require.Equal(t, []int{rows, rows}, []int{n, right})
		}
	})
}
