// Package sqldb opens a database with the drivers and settings that the other
// packages were measured with: SQLite through modernc.org/sqlite, PostgreSQL
// through lib/pq.
//
//	db, err := sqldb.Open(ctx, "sqlite://shop.db")
//	err = webhook.Migrate(ctx, db)
//
// A program that has a *sqlx.DB already gives them that one, so that what it
// publishes commits with rows of its own. Of SQLite they need foreign_keys and
// a busy_timeout, and say so when they are missing; a program that writes in
// several goroutines wants journal_mode(WAL) and _txlock=immediate too. On
// PostgreSQL several processes that were opened here wake each other at once;
// others find each other's work by looking, within a second or two.
package sqldb

import (
	"context"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database/open"
)

// Open opens sqlite://PATH, which is created when absent, or postgres://….
// sqlite://:memory: is a database of its own in memory, for tests and examples:
// it is gone when it is closed, and readers wait for writers.
//
// On SQLite ?synchronous=normal trades the last commits before a power cut for
// speed. A PostgreSQL URL without sslmode means "disable" on loopback and Unix
// sockets and "require" for every other host.
func Open(ctx context.Context, url string) (*sqlx.DB, error) { return open.Open(ctx, url) }

// MustOpen is [Open] for the first lines of a program, which is of no use
// without its database: it panics where Open returns an error.
func MustOpen(ctx context.Context, url string) *sqlx.DB {
	db, err := Open(ctx, url)
	if err != nil {
		panic("sqldb: " + err.Error())
	}
	return db
}
