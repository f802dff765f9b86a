// Package sqldb opens a database with the drivers and settings with which the other
// packages are tested: SQLite through modernc.org/sqlite, PostgreSQL through
// lib/pq.
//
//	db, err := sqldb.Open(ctx, "sqlite://shop.db")
//	err = webhook.Migrate(ctx, db)
//
// A program that already has a *sqlx.DB passes that to the packages, so that events
// which it publishes commit together with its own rows. On SQLite the packages
// require foreign_keys and a busy_timeout, and return an error if they are missing.
// A program that writes in several goroutines should also use journal_mode(WAL) and
// _txlock=immediate. On PostgreSQL, processes that open the database with this
// package notify each other of work at once. Others find work by polling, within a
// second or two.
package sqldb

import (
	"context"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database/open"
)

// ErrDamaged means that the write-ahead log of a SQLite database is damaged and that
// committed transactions follow the damage. SQLite would drop them silently.
var ErrDamaged = open.ErrDamaged

// Open opens sqlite://PATH, which it creates if necessary, or postgres://….
// sqlite://:memory: is a new database in memory, for tests and examples: closing it
// deletes it, and readers wait for writers.
//
// On SQLite ?synchronous=normal trades the last commits before a power cut for
// speed. A database whose log is damaged is not opened, see [ErrDamaged];
// ?damaged_wal=drop opens it without the transactions that follow the damage. With
// ?synchronous=normal, damage looks like a power cut and is not noticed. A PostgreSQL URL without sslmode means "disable" on loopback and Unix
// sockets and "require" for every other host.
func Open(ctx context.Context, url string) (*sqlx.DB, error) { return open.Open(ctx, url) }

// ErrPooler means that a PostgreSQL URL leads to a pooler that gives each transaction
// another connection, such as PgBouncer with pool_mode=transaction: give it
// [Options].ListenURL, or let it use pool_mode=session.
var ErrPooler = open.ErrPooler

// ErrListener means that notifications do not arrive at [Options].ListenURL, which must
// lead to the same database, without such a pooler.
var ErrListener = open.ErrListener

// MinConns is the least value of [Options].MaxConns: some work needs two connections.
const MinConns = open.MinConns

// Options configures [OpenWith] for PostgreSQL.
type Options struct {
	// MaxConns is how many connections the handle has at most, [MinConns] or more,
	// besides one for notifications. 0: 10.
	MaxConns int
	// ListenURL leads to PostgreSQL itself where the URL leads to a pooler that gives each
	// transaction another connection, which cannot receive notifications. Statements are
	// not prepared then.
	ListenURL string
}

// OpenWith is [Open] with options. It may return [ErrPooler] and [ErrListener].
func OpenWith(ctx context.Context, url string, opts Options) (*sqlx.DB, error) {
	return open.With(ctx, url, open.Options(opts))
}

// MustOpen is like [Open] but panics if it fails. It is for the beginning of a
// program that cannot work without its database.
func MustOpen(ctx context.Context, url string) *sqlx.DB {
	db, err := Open(ctx, url)
	if err != nil {
		panic("sqldb: " + err.Error())
	}
	return db
}
