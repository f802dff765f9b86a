package database_test

import (
	"bytes"
	"context"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/database/open"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// filesWith returns the files of a SQLite database that hold a text.
func filesWith(t *testing.T, path, text string) (found []string) {
	t.Helper()
	for _, suffix := range []string{"", "-wal"} {
		b, err := os.ReadFile(path + suffix)
		require.NoError(t, err)
		if bytes.Contains(b, []byte(text)) {
			found = append(found, filepath.Base(path)+suffix)
		}
	}
	return found
}

// TestScrub writes, changes and deletes rows of all sizes among others, and
// looks for what was deleted in the bytes of the files.
func TestScrub(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "scrub.db")
	db, err := open.Open(t.Context(), "sqlite://"+path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	d, err := database.Of(t.Context(), db)
	require.NoError(t, err)
	db.MustExec(`CREATE TABLE note (id INTEGER PRIMARY KEY, topic TEXT NOT NULL, text TEXT NOT NULL)`)
	db.MustExec(`CREATE INDEX note_text ON note (text)`)
	const canary = "canary-4711-canary"
	r := rand.New(rand.NewPCG(1, 2))
	change := func(query string, args ...any) {
		require.NoError(t, d.Write(t.Context(), func(tx *database.Tx) error {
			_, err := tx.ExecContext(t.Context(), query, args...)
			return err
		}))
	}
	for id := range 2000 {
		topic, text := "kept", strings.Repeat("x", r.IntN(300))
		if id%7 == 0 {
			topic = "secret"
			text = canary + strings.Repeat("y", []int{0, 50, 900, 9000}[r.IntN(4)]) + canary
		}
		change(`INSERT INTO note (id, topic, text) VALUES ($1, $2, $3)`, id, topic, text)
		if id%5 == 0 { // moves rows, and frees pages
			change(`UPDATE note SET text = text || $1 WHERE id = $2`, strings.Repeat("z", r.IntN(3000)), r.IntN(id+1))
		}
		if id%11 == 0 {
			change(`DELETE FROM note WHERE id = $1 AND topic = 'kept'`, r.IntN(id+1))
		}
	}
	require.NotEmpty(t, filesWith(t, path, canary))
	for _, limit := range []int{10, 100, 1000} {
		change(`DELETE FROM note WHERE id IN (SELECT id FROM note WHERE topic = 'secret' LIMIT $1)`, limit)
	}
	require.NotEmpty(t, filesWith(t, path, canary), "the log has it still")
	done, err := d.Scrub(t.Context())
	require.NoError(t, err)
	require.True(t, done)
	require.Empty(t, filesWith(t, path, canary))
	var left int
	require.NoError(t, db.Get(&left, `SELECT count(*) FROM note`))
	require.Positive(t, left)
}

// TestScrubBesideReaders checks that a scrub does not wait for readers of an older
// state, and does not block writers.
func TestScrubBesideReaders(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		d := setup(t, db)
		ctx := t.Context()
		require.NoError(t, d.InTx(ctx, insert(ctx, 1)))
		tx, err := db.BeginTxx(ctx, nil)
		require.NoError(t, err)
		if d.Dialect == database.SQLite { // the first statement would take the lock for writing
			require.NoError(t, tx.Rollback())
			conn, err := db.Connx(ctx)
			require.NoError(t, err)
			rows, err := conn.QueryContext(ctx, `SELECT n FROM x`) //nolint:rowserrcheck // it is kept open
			require.NoError(t, err)
			require.True(t, rows.Next())
			require.NoError(t, d.InTx(ctx, insert(ctx, 2)))
			done, err := d.Scrub(ctx)
			require.NoError(t, err)
			require.False(t, done, "the reader needs the log")
			require.NoError(t, rows.Close()) //nolint:sqlclosecheck // in time
			require.NoError(t, conn.Close())
		} else {
			require.NoError(t, tx.Rollback())
			require.NoError(t, d.InTx(ctx, insert(ctx, 2)))
		}
		done, err := d.Scrub(ctx)
		require.NoError(t, err)
		require.True(t, done)
		require.Equal(t, []int{1, 2}, numbers(t, d))
		if d.Dialect == database.SQLite {
			for range 20 { // whichever connection was used waits as before
				var timeout int
				require.NoError(t, db.Get(&timeout, `PRAGMA busy_timeout`))
				require.Equal(t, 5000, timeout, "busy_timeout")
			}
		}
	})
}

// TestRunScrub scrubs within a minute after a write, and rests while nothing is
// written.
func TestRunScrub(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db, asked := testkit.Counting(t, testkit.Open(t, testkit.SQLiteURL(t)))
		d, err := database.Of(t.Context(), db)
		require.NoError(t, err)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		scrubs := func(within time.Duration, after func()) int { // how many there were
			before := asked.Of("PRAGMA wal_checkpoint(TRUNCATE)")
			after()
			<-time.After(within)
			synctest.Wait()
			return asked.Of("PRAGMA wal_checkpoint(TRUNCATE)") - before
		}
		nothing := func() {}
		start := func() { go func() { _ = d.RunScrub(ctx, slog.New(slog.DiscardHandler)) }() }
		require.Equal(t, 1, scrubs(time.Second, start))
		require.Zero(t, scrubs(5*time.Minute, nothing))
		write := func() { require.NoError(t, d.Write(ctx, func(*database.Tx) error { return nil })) }
		require.Equal(t, 1, scrubs(time.Minute, write))
		require.Equal(t, 1, scrubs(time.Second, d.Erased))
		require.Equal(t, 1, scrubs(10*time.Minute, nothing), "another process may have written")
		require.Equal(t, 2, scrubs(2*time.Minute, func() {
			tx, err := db.BeginTx(ctx, nil)
			require.NoError(t, err)
			_, err = d.Join(tx)
			require.NoError(t, err)
			require.NoError(t, tx.Rollback())
		}), "a caller's transaction commits at any time")
	})
}
