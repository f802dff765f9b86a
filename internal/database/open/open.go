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
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
	_ "modernc.org/sqlite" // the embedded default

	"github.com/trunklinehq/trunkline/internal/database"
)

const (
	liteConns = 8
	pgConns   = 16
)

// memories counts the databases in memory, which have different names.
var memories atomic.Int64

// Open opens sqlite://PATH or postgres://…. It creates a SQLite file that does not
// exist. sqlite://:memory: is a database in memory, which no other process can see
// and which is deleted when it is closed. ?synchronous=normal makes commits faster,
// but a power cut may undo the last ones (default full). A PostgreSQL URL without
// sslmode means "disable" on loopback and Unix sockets, which involve no network,
// and "require" for all other hosts. "verify-full" must be chosen explicitly,
// because it needs the server's certificate authority.
func Open(ctx context.Context, rawURL string) (*sqlx.DB, error) {
	scheme, _, ok := strings.Cut(rawURL, "://")
	switch {
	case ok && scheme == "sqlite":
		return openSQLite(ctx, strings.TrimPrefix(rawURL, "sqlite://"))
	case ok && (scheme == "postgres" || scheme == "postgresql"):
		return openPostgres(ctx, rawURL)
	}
	return nil, fmt.Errorf("database URL must begin with sqlite:// or postgres://")
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

func openPostgres(ctx context.Context, rawURL string) (*sqlx.DB, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return nil, fmt.Errorf("postgres URL is malformed") // the parser's words would quote the password
	}
	q := u.Query()
	if !q.Has("sslmode") {
		q.Set("sslmode", sslMode(u, q))
	}
	q.Set("binary_parameters", "yes") // one round trip per statement instead of two
	u.RawQuery = q.Encode()
	dsn := u.String()
	db, err := sqlx.Open("postgres", dsn)
	if err != nil {
		return nil, fmt.Errorf("opening PostgreSQL: %w", err)
	}
	db.SetMaxOpenConns(pgConns)
	db.SetMaxIdleConns(pgConns)
	if db, err = ready(ctx, db); err != nil {
		return nil, err
	}
	return db, database.Attach(ctx, db, func(ctx context.Context, notify func(string)) { listen(ctx, dsn, notify) })
}

func sslMode(u *url.URL, q url.Values) string {
	host := u.Hostname()
	if h := q.Get("host"); h != "" {
		host = h
	}
	switch {
	case host == "", host == "localhost", host == "127.0.0.1", host == "::1", strings.HasPrefix(host, "/"):
		return "disable"
	}
	return "require"
}

func ready(ctx context.Context, db *sqlx.DB) (*sqlx.DB, error) {
	if err := db.PingContext(ctx); err != nil {
		_ = db.Close()
		return nil, fmt.Errorf("connecting to the database: %w", err)
	}
	return db, nil
}

// listen receives PostgreSQL notifications until ctx ends. Notifications may be
// missed before it listens and after a lost connection, for which the driver sends
// nil.
func listen(ctx context.Context, dsn string, notify func(string)) {
	l := pq.NewListener(dsn, 100*time.Millisecond, 10*time.Second, nil)
	// Listen waits for a connection without a limit; Close ends it.
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	if err := l.Listen(database.Channel); err != nil {
		return // the pollers continue
	}
	notify("")
	ping := time.NewTicker(time.Minute)
	defer ping.Stop()
	for {
		select {
		case n, ok := <-l.Notify:
			switch {
			case !ok: // closed because ctx ended
				return
			case n == nil:
				notify("")
			default:
				notify(n.Extra)
			}
		case <-ping.C:
			_ = l.Ping() // detects a dead connection
		case <-ctx.Done():
			return
		}
	}
}
