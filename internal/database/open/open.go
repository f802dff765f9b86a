// Package open opens a database by its URL with the drivers and settings with which
// this module is tested: SQLite through modernc.org/sqlite, PostgreSQL through
// lib/pq.
package open

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strings"
	"sync/atomic"

	"github.com/jmoiron/sqlx"
	_ "modernc.org/sqlite" // the embedded default
)

const liteConns = 8

// memories counts the databases in memory, which have different names.
var memories atomic.Int64

// Open opens sqlite://PATH or postgres://…. It creates a SQLite file that does not
// exist. sqlite://:memory: is a database in memory, which no other process can see
// and which is deleted when it is closed. ?synchronous=normal makes commits faster,
// but a power cut may undo the last ones (default full). A database whose write-ahead
// log is damaged is not opened, see [ErrDamaged], except with ?damaged_wal=drop or
// ?synchronous=normal, with which damage looks like a power cut. A PostgreSQL URL without
// sslmode means "disable" on loopback and Unix sockets, which involve no network,
// and "require" for all other hosts. "verify-full" must be chosen explicitly,
// because it needs the server's certificate authority. A URL may name several hosts:
// a connection is to the one that is the primary.
func Open(ctx context.Context, rawURL string) (*sqlx.DB, error) {
	return With(ctx, rawURL, Options{})
}

// Options configures [With] for PostgreSQL.
type Options struct {
	// MaxConns is how many connections the handle has at most, besides one for
	// notifications: at least [MinConns]. 0: [DefaultConns].
	MaxConns int
	// ListenURL leads to PostgreSQL itself where the URL leads to a pooler that gives each
	// transaction another connection, which cannot receive notifications. Statements are
	// not prepared then. "": the URL leads to PostgreSQL, or to a pooler that gives each
	// client a connection of its own.
	ListenURL string
}

// With is [Open] with options. It returns [ErrPooler] if the URL leads to a pooler
// that needs another address for notifications, and [ErrListener] if they do not arrive
// there.
func With(ctx context.Context, rawURL string, opts Options) (*sqlx.DB, error) {
	if opts.MaxConns != 0 && opts.MaxConns < MinConns {
		return nil, fmt.Errorf("the number of connections must be at least %d", MinConns)
	}
	if IsPostgres(rawURL) {
		return openPostgres(ctx, rawURL, opts)
	}
	switch path, lite := strings.CutPrefix(rawURL, "sqlite://"); {
	case !lite:
		return nil, fmt.Errorf("database URL must begin with sqlite:// or postgres://")
	case opts != (Options{}):
		return nil, fmt.Errorf("the number of connections and the address for notifications are for PostgreSQL")
	default:
		return openSQLite(ctx, path)
	}
}

// IsPostgres reports whether a URL is that of a PostgreSQL.
func IsPostgres(rawURL string) bool {
	return strings.HasPrefix(rawURL, "postgres://") || strings.HasPrefix(rawURL, "postgresql://")
}

func openSQLite(ctx context.Context, path string) (*sqlx.DB, error) {
	path, query, _ := strings.Cut(path, "?")
	opts, err := url.ParseQuery(query)
	if err != nil {
		return nil, fmt.Errorf("sqlite URL: %w", err)
	}
	sync := strings.ToLower(opts.Get("synchronous"))
	sync = cmp.Or(sync, "full")
	if sync != "full" && sync != "normal" && sync != "extra" {
		return nil, fmt.Errorf("sqlite URL: synchronous must be normal, full or extra")
	}
	drop := opts.Get("damaged_wal")
	if drop != "" && drop != "drop" {
		return nil, fmt.Errorf("sqlite URL: damaged_wal must be drop")
	}
	if path == "" {
		return nil, fmt.Errorf("sqlite URL: the path is missing")
	}
	file := (&url.URL{Path: path}).EscapedPath() + "?"
	if path == ":memory:" {
		file = fmt.Sprintf("/trunkline-%d?vfs=memdb&", memories.Add(1)) // all connections open the same database
	}
	if path != ":memory:" {
		if err := makePrivate(path); err != nil {
			return nil, fmt.Errorf("connecting to the database: %w", err)
		}
		if drop == "" && sync != "normal" {
			if err := checkWAL(path); err != nil {
				return nil, err
			}
		}
	}
	dsn := "file:" + file + "_txlock=immediate" +
		"&_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=foreign_keys(1)&_pragma=synchronous(" + sync + ")" +
		"&_pragma=cache_size(-16384)&_pragma=wal_autocheckpoint(4000)&_pragma=temp_store(MEMORY)&_pragma=secure_delete(1)"
	db, err := sqlx.Open("sqlite", dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(liteConns)
	db.SetMaxIdleConns(liteConns)
	return ready(ctx, db)
}

// makePrivate creates a missing database file, accessible only to its owner. SQLite
// gives its log and its index the mode of the file.
func makePrivate(path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) //nolint:gosec // the operator names it
	var at *fs.PathError
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil
	case errors.As(err, &at):
		return at.Err // without the path, which the caller knows
	case err != nil:
		return err
	}
	return file.Close()
}

func ready(ctx context.Context, db *sqlx.DB) (*sqlx.DB, error) {
	if err := db.PingContext(ctx); err != nil {
		_ = db.Close()
		return nil, fmt.Errorf("connecting to the database: %w", err)
	}
	return db, nil
}
