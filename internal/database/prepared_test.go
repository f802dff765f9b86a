package database_test

import (
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// TestPrepared runs a statement that is prepared in transactions of the handle,
// of its caller, and of another handle on the same database.
func TestPrepared(t *testing.T) {
	t.Parallel()
	testkit.EachURL(t, func(t *testing.T, url string) {
		db, other := testkit.Open(t, url), testkit.Open(t, url)
		d := setup(t, db)
		db.MustExec(`CREATE TABLE y (n BIGINT)`)
		const insert, read = `INSERT INTO y (n) VALUES ($1)`, `SELECT n FROM y WHERE n >= $1 ORDER BY n`
		for range 2 { // again: it is there already
			require.NoError(t, d.Prepare(t.Context(), insert))
			require.NoError(t, d.Prepare(t.Context(), read))
		}
		use := func(n int) func(tx *database.Tx) error {
			return func(tx *database.Tx) error {
				if _, err := tx.ExecContext(t.Context(), insert, n); err != nil {
					return err
				}
				var ns []int
				if err := tx.SelectContext(t.Context(), &ns, read, n); err != nil {
					return err
				}
				require.Equal(t, []int{n}, ns)
				return nil
			}
		}
		require.NoError(t, d.InTx(t.Context(), use(1)))
		require.NoError(t, d.Write(t.Context(), use(2)))
		for n, h := range map[int]*sqlx.DB{3: db, 4: other} {
			db.MustExec(`DELETE FROM y`)
			tx, err := h.BeginTxx(t.Context(), nil)
			require.NoError(t, err)
			joined, err := d.Join(tx)
			require.NoError(t, err)
			require.NoError(t, use(n)(joined))
			require.NoError(t, tx.Commit())
		}
		var ns []int
		require.NoError(t, d.SelectContext(t.Context(), &ns, read, 0))
		require.Len(t, ns, 1)
	})
}

// TestPrepared_Limit executes a statement with limits that change.
func TestPrepared_Limit(t *testing.T) {
	t.Parallel()
	testkit.EachURL(t, func(t *testing.T, url string) {
		d := setup(t, testkit.Open(t, url))
		_, err := d.ExecContext(t.Context(), `CREATE TABLE z (n BIGINT)`)
		require.NoError(t, err)
		_, err = d.ExecContext(t.Context(), `INSERT INTO z (n) VALUES (1), (2), (3)`)
		require.NoError(t, err)
		const text = `SELECT n FROM z WHERE n > $1 ORDER BY n LIMIT $2`
		require.NoError(t, d.Prepare(t.Context(), text))
		for limit, want := range map[int]int{0: 0, 2: 2, 9: 3} {
			var ns []int
			require.NoError(t, d.SelectContext(t.Context(), &ns, text, 0, limit))
			require.Len(t, ns, want)
		}
	})
}
