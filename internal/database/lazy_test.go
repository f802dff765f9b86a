package database_test

import (
	"errors"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// TestWriteLazy writes without waiting for the disk.
func TestWriteLazy(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		d := setup(t, db)
		db.MustExec(`CREATE TABLE y (n BIGINT)`)
		sqlite := d.DriverName() == "sqlite"
		for range 20 { // more than there are connections
			require.NoError(t, d.WriteLazy(t.Context(), func(tx *database.Tx) error {
				if sqlite {
					var level int
					require.NoError(t, tx.GetContext(t.Context(), &level, `PRAGMA synchronous`))
					require.Equal(t, 1, level)
				}
				_, err := tx.ExecContext(t.Context(), `INSERT INTO y (n) VALUES (1)`)
				return err
			}))
		}
		failed := errors.New("failed")
		require.ErrorIs(t, d.WriteLazy(t.Context(), func(tx *database.Tx) error {
			_, err := tx.ExecContext(t.Context(), `INSERT INTO y (n) VALUES (1)`)
			return errors.Join(failed, err)
		}), failed)
		var n int
		require.NoError(t, d.Get(&n, `SELECT count(*) FROM y`))
		require.Equal(t, 20, n)
	})
}

// TestSynchronous has connections that wait for the disk do so again after a
// lazy write.
func TestSynchronous(t *testing.T) {
	d := setup(t, testkit.Open(t, "sqlite://"+t.TempDir()+"/full.db"))
	full := func(n int) {
		t.Helper()
		var all []*sqlx.Conn
		for range n { // at once, so that they are different ones
			c, err := d.Connx(t.Context())
			require.NoError(t, err)
			all = append(all, c)
		}
		for _, c := range all {
			var level int
			require.NoError(t, c.GetContext(t.Context(), &level, `PRAGMA synchronous`))
			require.Equal(t, 2, level)
			require.NoError(t, c.Close())
		}
	}
	full(4)
	for range 20 {
		require.NoError(t, d.WriteLazy(t.Context(), func(tx *database.Tx) error {
			var level int
			require.NoError(t, tx.GetContext(t.Context(), &level, `PRAGMA synchronous`))
			require.Equal(t, 1, level)
			return nil
		}))
	}
	require.ErrorIs(t, d.WriteLazy(t.Context(), func(*database.Tx) error { return errors.ErrUnsupported }), errors.ErrUnsupported)
	full(4)
}
