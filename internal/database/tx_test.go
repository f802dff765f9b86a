package database_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// wrapped is a transaction of another library.
type wrapped struct{ tx *sql.Tx }

func (w wrapped) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	return w.tx.ExecContext(ctx, query, args...)
}

func (w wrapped) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return w.tx.QueryContext(ctx, query, args...)
}

func TestJoin_TakesTransactionsOfAnybody(t *testing.T) {
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		d := setup(t, db)
		db.MustExec(`CREATE TABLE y (n BIGINT, s TEXT)`)
		for name, of := range map[string]func(tx *sql.Tx) database.Executor{
			"database/sql": func(tx *sql.Tx) database.Executor { return tx },
			"sqlx":         func(tx *sql.Tx) database.Executor { return &sqlx.Tx{Tx: tx} }, // without a mapper
			"another":      func(tx *sql.Tx) database.Executor { return wrapped{tx} },
		} {
			started, err := db.Begin()
			require.NoError(t, err)
			tx, err := d.Join(of(started))
			require.NoError(t, err, name)
			_, err = tx.ExecContext(t.Context(), `INSERT INTO y (n, s) VALUES ($1, $2), (2, 'b')`, 1, "a")
			require.NoError(t, err)
			var rows []struct {
				N int64
				S string
			}
			require.NoError(t, tx.SelectContext(t.Context(), &rows, `SELECT n, s FROM y ORDER BY n`))
			require.Len(t, rows, 2, name)
			require.Equal(t, "a", rows[0].S)
			var pointers []*struct{ N int64 }
			require.NoError(t, tx.SelectContext(t.Context(), &pointers, `SELECT n FROM y ORDER BY n`))
			require.EqualValues(t, 2, pointers[1].N)
			var n int64
			require.NoError(t, tx.GetContext(t.Context(), &n, `SELECT count(*) FROM y`))
			require.EqualValues(t, 2, n)
			require.ErrorIs(t, tx.GetContext(t.Context(), &n, `SELECT n FROM y WHERE n > 5`), sql.ErrNoRows)
			require.NoError(t, started.Rollback())
		}
	})
}

func TestJoin_RefusesWhatIsNoTransaction(t *testing.T) {
	d := setup(t, testkit.Open(t, testkit.SQLiteURL(t)))
	for name, on := range map[string]database.Executor{
		"nil": nil, "sql": (*sql.Tx)(nil), "sqlx": (*sqlx.Tx)(nil), "empty": &sqlx.Tx{}, "own": (*database.Tx)(nil),
	} {
		_, err := d.Join(on)
		require.ErrorContains(t, err, "the transaction is nil", name)
	}
	_, err := d.Join(d.DB)
	require.ErrorContains(t, err, "not a transaction")
	_, err = d.Join(d.DB.DB)
	require.ErrorContains(t, err, "not a transaction")
}

// TestNotifyAfter notifies when a transaction has committed, once for each topic,
// and not when it or its part of a group is undone.
func TestNotifyAfter(t *testing.T) {
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		d := setup(t, db)
		notified := d.Listen(t.Context(), "a")
		if d.Dialect == database.Postgres {
			woken(t, notified) // what listening itself tells
		}
		called := 0
		put := func(fail error) func(tx *database.Tx) error {
			return func(tx *database.Tx) error {
				tx.NotifyAfter("a")
				tx.NotifyAfter("a")
				tx.AfterCommit(func() { called++ })
				require.Empty(t, notified, "not before the commit")
				return fail
			}
		}
		require.NoError(t, d.InTx(t.Context(), put(nil)))
		require.Len(t, notified, 1)
		<-notified
		require.NoError(t, d.Write(t.Context(), put(nil)))
		require.Len(t, notified, 1)
		<-notified
		require.Equal(t, 2, called)
		undone := errors.New("undone")
		require.ErrorIs(t, d.InTx(t.Context(), put(undone)), undone)
		require.ErrorIs(t, d.Write(t.Context(), put(undone)), undone)
		require.Empty(t, notified)
		require.Equal(t, 2, called)
	})
}

// TestNotifyAfter_OfACallersTransaction has the listeners look a few times.
func TestNotifyAfter_OfACallersTransaction(t *testing.T) {
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		d := setup(t, db)
		notified := d.Listen(t.Context(), "a")
		started, err := db.Beginx()
		require.NoError(t, err)
		tx, err := d.Join(started)
		require.NoError(t, err)
		tx.NotifyAfter("a")
		require.NoError(t, started.Commit())
		for range 3 {
			<-notified
		}
	})
}
