package open_test

import (
	"context"
	"database/sql"
	"net"
	"net/url"
	"path/filepath"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/database/open"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// oneConnection opens PostgreSQL with a single connection.
func oneConnection(t *testing.T) *sqlx.DB {
	t.Helper()
	db, err := open.Open(t.Context(), testkit.PostgresURL(t))
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1)
	db.MustExecContext(t.Context(), `CREATE TABLE word (n INTEGER)`)
	return db
}

func backend(t *testing.T, db *sqlx.DB) (pid int) {
	t.Helper()
	require.NoError(t, db.GetContext(t.Context(), &pid, `SELECT pg_backend_pid()`))
	return pid
}

// TestConn_ReadOnly has a session that became read-only. It is replaced after the
// first write that fails, in a transaction as outside of one.
func TestConn_ReadOnly(t *testing.T) {
	t.Parallel()
	const insert = `INSERT INTO word VALUES (1)`
	for name, write := range map[string]func(*sqlx.DB) error{
		"statement": func(db *sqlx.DB) error {
			_, err := db.ExecContext(t.Context(), insert)
			return err
		},
		"prepared": func(db *sqlx.DB) error {
			stmt, err := db.PrepareContext(t.Context(), insert)
			require.NoError(t, err)
			defer stmt.Close() //nolint:errcheck // its connection may be gone
			_, err = stmt.ExecContext(t.Context())
			return err
		},
		"query": func(db *sqlx.DB) error {
			var n int
			return db.GetContext(t.Context(), &n, insert+` RETURNING n`)
		},
		"transaction": func(db *sqlx.DB) error {
			tx, err := db.BeginTxx(t.Context(), nil)
			require.NoError(t, err)
			defer tx.Rollback() //nolint:errcheck // it is committed, or has failed
			if _, err := tx.ExecContext(t.Context(), insert); err != nil {
				return err
			}
			return tx.Commit()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := oneConnection(t)
			before := backend(t, db)
			db.MustExecContext(t.Context(), `SET default_transaction_read_only = on`)
			err := write(db)
			require.ErrorContains(t, err, "read-only transaction")
			require.True(t, database.IsMoved(err))
			require.NoError(t, write(db))
			require.NotEqual(t, before, backend(t, db))
		})
	}
}

// TestConn_Deadline has a statement that takes longer than its context: its
// connection is not used again. Others are.
func TestConn_Deadline(t *testing.T) {
	t.Parallel()
	db := oneConnection(t)
	first := backend(t, db)
	_, err := db.ExecContext(t.Context(), `SELECT no_such_function()`)
	require.Error(t, err)
	require.Equal(t, first, backend(t, db), "what is wrong with a statement is not wrong with its connection")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err = db.ExecContext(ctx, `SELECT pg_sleep(60)`)
	require.Error(t, err)
	require.Error(t, ctx.Err())
	require.NotEqual(t, first, backend(t, db))
}

// TestConn_Options mixes transactions with options and without on one connection.
func TestConn_Options(t *testing.T) {
	t.Parallel()
	db := oneConnection(t)
	first := backend(t, db)
	for range 3 {
		for _, c := range []struct {
			opts                *sql.TxOptions
			isolation, readOnly string
		}{
			{nil, "read committed", "off"},
			{&sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}, "repeatable read", "on"},
			{&sql.TxOptions{Isolation: sql.LevelSerializable}, "serializable", "off"},
			{&sql.TxOptions{ReadOnly: true}, "read committed", "on"},
		} {
			tx, err := db.BeginTxx(t.Context(), c.opts)
			require.NoError(t, err)
			var isolation, readOnly string
			require.NoError(t, tx.GetContext(t.Context(), &isolation, `SHOW transaction_isolation`))
			require.NoError(t, tx.GetContext(t.Context(), &readOnly, `SHOW transaction_read_only`))
			require.Equal(t, c.isolation, isolation)
			require.Equal(t, c.readOnly, readOnly)
			require.NoError(t, tx.Commit())
		}
	}
	_, err := db.BeginTxx(t.Context(), &sql.TxOptions{Isolation: sql.LevelLinearizable})
	require.Error(t, err)
	require.Equal(t, first, backend(t, db))
}

// TestSeveralHosts has a cluster of a host that hangs, a standby and the primary: each
// connection is to the primary, and in time for a request.
func TestSeveralHosts(t *testing.T) {
	t.Parallel()
	primary := testkit.PostgresServer(t, testkit.PostgresOptions{Durable: true})
	u, err := url.Parse(primary.Database(t))
	require.NoError(t, err)
	standby := primary.Standby(t)
	hangs, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0") // nobody accepts
	require.NoError(t, err)
	defer hangs.Close() //nolint:errcheck // nobody has connected
	_, port, err := net.SplitHostPort(hangs.Addr().String())
	require.NoError(t, err)
	q := url.Values{
		"host":    {"127.0.0.1," + filepath.Dir(standby.Socket()) + "," + filepath.Dir(primary.Socket())},
		"port":    {port + ",5432,5432"},
		"sslmode": {"disable"},
	}
	u.RawQuery = q.Encode()
	db, err := open.Open(t.Context(), u.String())
	require.NoError(t, err)
	defer db.Close()      //nolint:errcheck // nothing was written
	db.SetMaxIdleConns(0) // each transaction connects
	d, err := database.Of(t.Context(), db)
	require.NoError(t, err)
	var follows bool
	err = d.InTx(database.ForRequest(t.Context()), func(tx *database.Tx) error {
		return tx.GetContext(t.Context(), &follows, `SELECT pg_is_in_recovery()`)
	})
	require.NoError(t, err)
	require.False(t, follows)
}
