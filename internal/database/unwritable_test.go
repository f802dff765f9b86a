package database_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// pages opens a SQLite database that can have so many pages of 4 KiB and no
// more.
func pages(t *testing.T, limit int) *database.DB {
	t.Helper()
	dsn := fmt.Sprintf("file:%s?_txlock=immediate&_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=foreign_keys(1)&_pragma=max_page_count(%d)",
		filepath.Join(t.TempDir(), "small.db"), limit)
	db, err := sqlx.Open("sqlite", dsn)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	d, err := database.Of(t.Context(), db)
	require.NoError(t, err)
	db.MustExec(`CREATE TABLE x (n BIGINT, body TEXT)`)
	return d
}

// TestFull fills a database to its last page.
func TestFull(t *testing.T) {
	t.Parallel()
	d := pages(t, 40)
	body := strings.Repeat("x", 16<<10)
	put := func(ctx context.Context) func(*database.Tx) error {
		return func(tx *database.Tx) error {
			_, err := tx.ExecContext(ctx, `INSERT INTO x (n, body) VALUES (1, $1)`, body)
			return err
		}
	}
	var err error
	for range 40 {
		if err = d.InTx(t.Context(), put(t.Context())); err != nil {
			break
		}
	}
	require.ErrorIs(t, err, database.ErrUnwritable)
	require.ErrorContains(t, err, "full")
	_, direct := d.ExecContext(t.Context(), `INSERT INTO x (n, body) VALUES (1, $1)`, body)
	require.True(t, database.IsUnwritable(direct))

	var alone, large, small error
	gather(t, d,
		func() { large = d.Write(t.Context(), put(t.Context())) },
		func() { alone = d.Write(t.Context(), put(t.Context())) },
		func() {
			small = d.Write(t.Context(), func(tx *database.Tx) error {
				_, err := tx.ExecContext(t.Context(), `UPDATE x SET n = 0`)
				return err
			})
		})
	require.ErrorIs(t, large, database.ErrUnwritable)
	require.ErrorIs(t, alone, database.ErrUnwritable)
	require.NoError(t, small, "what fits is written, whoever else fails")

	_, err = d.ExecContext(t.Context(), `DELETE FROM x`)
	require.NoError(t, err)
	require.NoError(t, d.Write(t.Context(), put(t.Context())), "there is room again")
}

// TestReadOnly has a store that takes nothing.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		d := setup(t, db)
		readOnly := `SET TRANSACTION READ ONLY`
		if d.Dialect == database.SQLite {
			readOnly = `PRAGMA query_only = 1`
			db.SetMaxOpenConns(1)
		}
		err := d.InTx(t.Context(), func(tx *database.Tx) error {
			if _, err := tx.ExecContext(t.Context(), readOnly); err != nil {
				return err
			}
			return insert(t.Context(), 1)(tx)
		})
		require.ErrorIs(t, err, database.ErrUnwritable)
	})
}

// TestOutOfReach closes the database.
func TestOutOfReach(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		d := setup(t, db)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, d.InTx(ended, insert(ended, 1)), context.Canceled)
		require.NoError(t, db.Close())
		require.ErrorIs(t, d.InTx(t.Context(), insert(t.Context(), 1)), database.ErrUnwritable)
	})
}

// state is an error as lib/pq and pgx have it.
type state string

func (s state) Error() string    { return "state " + string(s) }
func (s state) SQLState() string { return string(s) }

func TestIsUnwritable(t *testing.T) {
	t.Parallel()
	for _, err := range []error{
		state("53100"), state("53300"), state("57P01"), state("57P03"), state("58030"), state("25006"), state("08006"),
		fmt.Errorf("storing: %w", state("53100")), &net.OpError{Op: "dial", Err: errors.New("refused")},
	} {
		require.True(t, database.IsUnwritable(err), err)
	}
	for _, err := range []error{nil, errors.New("x"), state("23505"), state("57014"), state("40001"), context.Canceled} {
		require.False(t, database.IsUnwritable(err), err)
	}
}

// TestIsUnwritable_CannotOpen has a file that cannot be opened, as when there are too
// many open files.
func TestIsUnwritable_CannotOpen(t *testing.T) {
	t.Parallel()
	db, err := sqlx.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "none", "small.db"))
	require.NoError(t, err)
	defer db.Close() //nolint:errcheck // it was never open
	_, err = db.ExecContext(t.Context(), `CREATE TABLE a (b TEXT)`)
	require.ErrorContains(t, err, "unable to open database file")
	require.True(t, database.IsUnwritable(err))
}
