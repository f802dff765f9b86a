package database_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// TestDue: all queries of a database are asked with one statement, and each channel
// hears of its own.
func TestDue(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		counted, asked := testkit.Counting(t, db)
		d := setup(t, counted)
		_, err := d.ExecContext(t.Context(), `CREATE TABLE due_test (kind TEXT NOT NULL)`)
		require.NoError(t, err)
		of := func(kind string) database.DueQuery {
			return func(first int, _ time.Duration) (string, []any) {
				return fmt.Sprintf(`SELECT 1 FROM due_test WHERE kind = $%d`, first), []any{kind}
			}
		}
		ctx, leave := context.WithCancel(t.Context())
		a, b := d.Due(ctx, "due a", of("a")), d.Due(ctx, "", of("b"))
		d.Notify("due a")
		<-a
		_, err = d.ExecContext(t.Context(), `INSERT INTO due_test (kind) VALUES ('b')`)
		require.NoError(t, err)
		<-b
		<-b // for as long as it is there
		require.Empty(t, a)
		require.Zero(t, asked.Of("SELECT 0 AS n WHERE EXISTS (SELECT 1 FROM due_test WHERE kind = $1)")-
			asked.Of("UNION ALL SELECT 1 AS n WHERE EXISTS (SELECT 1 FROM due_test WHERE kind = $2)"), "one statement asks for both")
		_, err = d.ExecContext(t.Context(), `DROP TABLE due_test`)
		require.NoError(t, err)
		<-a // an error is for all to find
		<-b
		leave()
		again := d.Due(t.Context(), "", func(int, time.Duration) (string, []any) { return `SELECT 1`, nil })
		<-again // the others are gone
	})
}

// TestDue_LockedTable: a table that is locked, as by VACUUM FULL, delays the others a
// little, and is looked at again when it is free.
func TestDue_LockedTable(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		d := setup(t, db)
		if d.Dialect != database.Postgres {
			return // readers of SQLite wait for nobody
		}
		db.MustExec(`CREATE TABLE due_locked (n INT)`)
		of := d.Due(t.Context(), "", func(int, time.Duration) (string, []any) { return `SELECT 1 FROM due_locked`, nil })
		other := d.Due(t.Context(), "", func(int, time.Duration) (string, []any) { return `SELECT 1 WHERE FALSE`, nil })
		tx, err := db.BeginTxx(t.Context(), nil)
		require.NoError(t, err)
		defer tx.Rollback() //nolint:errcheck // it is over, unless a check failed
		_, err = tx.ExecContext(t.Context(), `LOCK TABLE due_locked IN ACCESS EXCLUSIVE MODE`)
		require.NoError(t, err)
		<-of
		<-other
		require.NoError(t, tx.Rollback())
		_, err = d.ExecContext(t.Context(), `INSERT INTO due_locked (n) VALUES (1)`)
		require.NoError(t, err)
		<-of
	})
}

// TestDue_Ahead: a process in which nothing happens looks less often, and ahead, so
// that what was written elsewhere is found in time.
func TestDue_Ahead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db, err := sqlx.Open("sqlite", ":memory:?_pragma=foreign_keys(1)&_pragma=busy_timeout(5000)")
		require.NoError(t, err)
		defer func() { require.NoError(t, db.Close()) }()
		d, err := database.Of(t.Context(), db)
		require.NoError(t, err)
		ctx, stop := context.WithCancel(t.Context())
		began, at := time.Now(), time.Minute // when something is due
		var looks []time.Duration
		found := d.Due(ctx, "", func(first int, ahead time.Duration) (string, []any) {
			since := time.Since(began)
			looks = append(looks, since)
			return fmt.Sprintf(`SELECT 1 WHERE CAST($%d AS BIGINT) >= CAST($%d AS BIGINT)`, first, first+1), []any{int64(since + ahead), int64(at)}
		})
		<-found
		require.Equal(t, time.Minute, time.Since(began))
		require.Less(t, len(looks), 25, "%v", looks)
		require.Equal(t, []time.Duration{8 * time.Second, 14 * time.Second, 20 * time.Second}, looks[7:10])
		stop()
		synctest.Wait()
	})
}
