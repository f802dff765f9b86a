// Package testkit holds what the tests of several packages share: databases of
// both dialects, a PostgreSQL server that the tests start themselves, the
// folder of larger fixtures and the length of fault loops.
//
// It is for tests only; nothing else may import it.
package testkit

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database/open"
)

// TB is *testing.T or *testing.B, seen so that it can start subtests of its
// own kind.
type TB[T any] interface {
	testing.TB
	Run(name string, fn func(T)) bool
}

// EachDatabase runs fn as one subtest (or sub-benchmark) per dialect, each
// with a database of its own, which is empty unless there is [Fill]. fn may call t.Parallel. Without
// PostgreSQL binaries that half is skipped, or fails when CI=true.
func EachDatabase[T TB[T]](t T, fn func(t T, db *sqlx.DB)) {
	t.Helper()
	EachURL(t, func(t T, url string) { fn(t, Open(t, url)) })
}

// EachURL is [EachDatabase] for tests that open the database themselves, more
// than once or in another process.
func EachURL[T TB[T]](t T, fn func(t T, url string)) {
	t.Helper()
	t.Run("sqlite", func(t T) { fn(t, SQLiteURL(t)) })
	t.Run("postgres", func(t T) { fn(t, PostgresURL(t)) })
}

// Open opens url until the test ends.
func Open(t testing.TB, url string) *sqlx.DB {
	t.Helper()
	db, err := open.Open(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() }) // fails when the test has killed the server
	return db
}

// SQLiteURL is the URL of a SQLite file that does not exist yet, unless there is
// [Fill]. It is opened with synchronous=normal, which is durable against
// everything but a power cut.
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

// Fill makes the databases of this test binary copies of one that fn has
// filled, once for each dialect; otherwise they are empty. Call it before the
// first test. What is on a [PostgresServer] remains empty.
func Fill(fn func(context.Context, *sqlx.DB) error) { filler = fn }

var filler func(context.Context, *sqlx.DB) error

// filledFile is what is in a SQLite file that was filled.
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

// PostgresURL is the URL of an empty database, unless there is [Fill], on the
// server of this test binary. It is dropped when the test ends.
func PostgresURL(t testing.TB) string {
	t.Helper()
	return shared(t).Database(t)
}

// PostgresOptions configures a server of [PostgresServer].
type PostgresOptions struct {
	Durable bool // fsync and synchronous_commit on, as in production
}

// Shared is the folder of the fixtures that are too large, or not ours, to be
// in the repository: the environment's TRUNKLINE_SHARED. Without it the test
// is skipped, or fails when CI=true.
func Shared(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("TRUNKLINE_SHARED")
	if dir == "" {
		missing(t, "TRUNKLINE_SHARED is not set: the shared fixtures are not checked")
	}
	return dir
}

// Rounds is how often a fault loop runs: the environment's ROUNDS, or def.
func Rounds(def int) int {
	if n, err := strconv.Atoi(os.Getenv("ROUNDS")); err == nil && n > 0 {
		return n
	}
	return def
}

// missing ends a test that lacks something outside the repository.
func missing(t testing.TB, why string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(why)
	}
	t.Skip(why)
}
