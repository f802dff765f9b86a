// Package testkit is shared by the tests of several packages: it provides databases
// of both dialects, a PostgreSQL server that the tests start themselves, the folder
// of larger fixtures and the number of rounds of fault loops.
//
// It is for tests only; other packages must not import it.
package testkit

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database/open"
)

// EachDatabase runs fn as one parallel subtest per dialect, each with its own
// database, which is made when the subtest's turn has come. The database is empty
// unless [Fill] was called. Without PostgreSQL binaries that subtest is skipped, or
// fails if CI=true.
func EachDatabase(t *testing.T, fn func(t *testing.T, db *sqlx.DB)) {
	t.Helper()
	EachURL(t, func(t *testing.T, url string) { fn(t, Open(t, url)) })
}

// EachURL is like [EachDatabase] for tests that open the database themselves,
// several times or in another process.
func EachURL(t *testing.T, fn func(t *testing.T, url string)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		fn(t, SQLiteURL(t))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		fn(t, PostgresURL(t))
	})
}

// BenchmarkEach runs fn as one benchmark per dialect, each with its own database.
func BenchmarkEach(b *testing.B, fn func(b *testing.B, db *sqlx.DB)) {
	b.Helper()
	b.Run("sqlite", func(b *testing.B) { fn(b, Open(b, SQLiteURL(b))) })
	b.Run("postgres", func(b *testing.B) { fn(b, Open(b, PostgresURL(b))) })
}

// Open opens url and closes it when the test ends.
func Open(t testing.TB, url string) *sqlx.DB {
	t.Helper()
	db, err := open.Open(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = db.Close() // fails if the test has killed the server
		if db.DriverName() == "sqlite" {
			awaitClosed(t, db)
		}
	})
	return db
}

// awaitClosed waits until no connection is in use any more: what a library leaves
// running may use one for a moment, and make a file in a folder that is being removed.
func awaitClosed(t testing.TB, db *sqlx.DB) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(untilTimeout); db.Stats().OpenConnections > 0; <-tick.C {
		require.True(t, time.Now().Before(end), "a connection to the database is never given back")
	}
}

// SQLiteURL returns the URL of a SQLite file that does not exist yet, or of a copy
// after [Fill]. It uses synchronous=normal, which is durable except for a power
// cut.
func SQLiteURL(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.db")
	if filler != nil {
		b, err := filledFile()
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, b, 0o600))
	}
	return sqliteURL(path)
}

func sqliteURL(path string) string { return "sqlite://" + path + "?synchronous=normal" }

// Fill makes all databases of this test binary copies of one that fn has filled,
// once for each dialect. Call it before the first test. Databases of a
// [PostgresServer] remain empty.
func Fill(fn func(context.Context, *sqlx.DB) error) { filler = fn }

var filler func(context.Context, *sqlx.DB) error

// filledFile returns the content of a filled SQLite file.
var filledFile = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "trunkline-filled-")
	if err != nil {
		return nil, fmt.Errorf("making a folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "test.db")
	if err := fillDatabase(sqliteURL(path)); err != nil {
		return nil, err
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the filled database: %w", err)
	}
	return b, nil
})

func fillDatabase(url string) error {
	db, err := open.Open(context.Background(), url)
	if err != nil {
		return fmt.Errorf("opening the database to fill: %w", err)
	}
	if err := filler(context.Background(), db); err != nil {
		_ = db.Close()
		return fmt.Errorf("filling a database: %w", err)
	}
	if err := db.Close(); err != nil {
		return fmt.Errorf("closing the filled database: %w", err)
	}
	return nil
}

// PostgresURL returns the URL of an empty database, or of a copy after [Fill], on
// the server of this test binary. It is dropped when the test ends.
func PostgresURL(t testing.TB) string {
	t.Helper()
	return shared(t).Database(t)
}

// PostgresOptions configures a server of [PostgresServer].
type PostgresOptions struct {
	Durable bool // fsync and synchronous_commit on, as in production
	// Settings returns more settings, NAME=VALUE, for a server whose folder is dir.
	Settings func(dir string) []string
}

// Shared returns the folder of fixtures that are too large for the repository or
// not ours: TRUNKLINE_SHARED of the environment. Without it the test is skipped, or
// fails if CI=true.
func Shared(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("TRUNKLINE_SHARED")
	if dir == "" {
		Missing(t, "TRUNKLINE_SHARED is not set: the shared fixtures are not checked")
	}
	return dir
}

// Rounds returns the number of rounds of a fault loop: ROUNDS of the environment,
// or def.
func Rounds(def int) int { return Number("ROUNDS", def) }

// Number returns the number of a variable of the environment, or def if it has none
// above 0.
func Number(name string, def int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil && n > 0 {
		return n
	}
	return def
}

// Missing skips a test that lacks something outside of the repository, or fails it
// if CI=true.
func Missing(t testing.TB, why string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(why)
	}
	t.Skip(why)
}
