// Package database is the common base of the packages that own tables: the dialect
// of a *sqlx.DB, transactions behind a write gate, group commits, migrations, and
// notifications between nodes.
//
// It imports no driver: the caller of a public constructor chooses one. Package
// open is the usual choice.
package database

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/groupcommit"
	"github.com/trunklinehq/trunkline/internal/testsignal"
)

// Dialect is the SQL dialect of a *sqlx.DB.
type Dialect int

// The dialects that the packages of this module support.
const (
	SQLite Dialect = iota + 1
	Postgres
)

func (d Dialect) String() string {
	if d == Postgres {
		return "postgres"
	}
	return "sqlite"
}

// DB is a *sqlx.DB with the additions of this module. All DBs of one *sql.DB share
// their write gate and their listeners.
type DB struct {
	*sqlx.DB
	Dialect Dialect
	*shared
}

// shared is the state of one *sql.DB.
type shared struct {
	// Commits is sent after each commit, when the functions of AfterCommit have
	// returned, and after each statement without a transaction.
	Commits testsignal.Signal

	gate    chan struct{} // SQLite: held by the only transaction that may write
	writes  groupcommit.Group[func(*Tx) error]
	bus     bus
	dues    dues
	waiting atomic.Int64     // requests that wait for the database
	erased  chan struct{}    // requests of [DB.Erased]
	stops   map[string]int64 // argument of [DB.StopAt]

	migrated sync.Map // package → the files that [Migrate] has applied completely
	versions versions // what [Migrate] finds at its first call

	values     sync.Map // see [DB.Value]
	statements statements
	lists      sync.Map // listKey → text; see [Rows]

	observer atomic.Pointer[func(rows int64)] // see [Observe]
	locks    atomic.Pointer[LockOrder]        // see [CheckLocks]
}

// handles maps *sql.DB to *shared: there must be one write gate per process and
// database, however many packages use the handle.
var handles sync.Map

var errNoDB = errors.New("database: the *sqlx.DB is nil: open a database and pass it")

// Of returns the DB of db. On SQLite the first call for a *sql.DB checks the
// settings that the packages of this module require, and its error names the
// missing one.
func Of(ctx context.Context, db *sqlx.DB) (*DB, error) {
	if db == nil || db.DB == nil {
		return nil, errNoDB
	}
	d := &DB{DB: db}
	known, checked := handles.Load(db.DB)
	switch db.DriverName() {
	case "sqlite", "sqlite3":
		d.Dialect = SQLite
		if checked {
			break
		}
		if err := checkPragmas(ctx, db); err != nil {
			return nil, err
		}
	case "postgres", "pgx":
		d.Dialect = Postgres
	default:
		return nil, fmt.Errorf("database: unsupported driver %q: use sqlite or postgres", db.DriverName())
	}
	if checked {
		d.shared = known.(*shared)
		return d, nil
	}
	d.shared = &shared{gate: make(chan struct{}, 1), erased: make(chan struct{}, 1), dues: dues{events: make(chan struct{}, 1)}}
	d.writes.Gate, d.writes.Run = d.gate, d.writeGroup
	d.bus.id, d.bus.touch = rand.Text(), d.dues.touch
	forgetClosed()
	s, _ := handles.LoadOrStore(db.DB, d.shared)
	d.shared = s.(*shared)
	return d, nil
}

// forgetClosed drops what is known of databases that are closed. Of calls it when it gets
// another: a program that opens many, such as a test, would keep all that ever worked with
// them.
func forgetClosed() {
	ended, end := context.WithCancel(context.Background())
	end()
	handles.Range(func(db, _ any) bool {
		// One that is open finds that its context has ended, and does nothing.
		if err := db.(*sql.DB).PingContext(ended); err != nil && !errors.Is(err, ended.Err()) {
			handles.Delete(db)
		}
		return true
	})
}

// Value returns what a package keeps with the database under a key of a type of its
// own, for all DBs of one *sql.DB. It is made by fresh at the first call.
func (d *DB) Value(key any, fresh func() any) any {
	v, known := d.values.Load(key)
	if !known {
		v, _ = d.values.LoadOrStore(key, fresh())
	}
	return v
}

func checkPragmas(ctx context.Context, db *sqlx.DB) error {
	for _, p := range []struct {
		name string
		ok   func(int) bool
		set  string
	}{
		{"foreign_keys", func(v int) bool { return v == 1 }, "_pragma=foreign_keys(1)"},
		{"busy_timeout", func(v int) bool { return v > 0 }, "_pragma=busy_timeout(5000)"},
	} {
		var v int
		if err := db.GetContext(ctx, &v, "PRAGMA "+p.name); err != nil {
			return fmt.Errorf("reading pragma %s: %w", p.name, err)
		}
		if !p.ok(v) {
			return fmt.Errorf("database: pragma %s is %d: open the database with %s", p.name, v, p.set)
		}
	}
	return nil
}

// InTx runs fn in a transaction of its own. It rolls back if fn fails or panics. On
// SQLite it holds the process-wide write gate: only writers may use it, and fn must
// not call InTx or Write. On PostgreSQL it runs fn again after a deadlock or a
// serialization failure, so fn must assign its results and not add to them.
func (d *DB) InTx(ctx context.Context, fn func(*Tx) error) error {
	defer d.touch(ctx)
	if d.Dialect == SQLite {
		return d.Alone(ctx, func() error { return d.tx(ctx, fn) })
	}
	return Again(ctx, isRace, func() error { return d.tx(ctx, fn) })
}

// Alone runs fn, which writes to the database in its own transactions, while no
// other writer of this package does. Libraries with transactions of their own then
// do not wait for SQLite's lock, which is not fair. On PostgreSQL it just runs fn.
// fn must not call InTx, Write or Alone.
func (d *DB) Alone(ctx context.Context, fn func() error) error {
	if d.Dialect != SQLite {
		return fn()
	}
	if err := d.enter(ctx); err != nil {
		return err
	}
	defer func() { <-d.gate }()
	return fn()
}

// enter waits until no other writes to SQLite.
func (s *shared) enter(ctx context.Context) error {
	select {
	case s.gate <- struct{}{}:
		return nil
	default:
	}
	return s.Wait(ctx, func(ctx context.Context) error {
		select {
		case s.gate <- struct{}{}:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
}

func (d *DB) tx(ctx context.Context, fn func(*Tx) error) error {
	err := d.txOn(ctx, d.DB, fn)
	if err == nil {
		d.prepareDue(ctx)
	}
	return err
}

// txOn runs fn in a transaction of a handle or of one of its connections.
func (d *DB) txOn(ctx context.Context, on beginner, fn func(*Tx) error) error {
	started, end, err := d.begin(ctx, on)
	if err != nil {
		return cause(ctx, unreachable(err))
	}
	defer end()
	defer started.Rollback() //nolint:errcheck // after Commit it returns ErrTxDone
	tx := &Tx{on: started, db: d.shared, mapper: d.Mapper, own: started}
	if observe := d.observer.Load(); observe != nil {
		err = d.observed(ctx, tx, fn, *observe)
	} else if err = fn(tx); err == nil {
		if err = tx.finish(ctx); err == nil {
			err = started.Commit()
		}
	}
	if err != nil {
		return cause(ctx, unwritable(err))
	}
	tx.committed(d)
	d.Commits.Send()
	return nil
}

type beginner interface {
	BeginTx(ctx context.Context, opts *sql.TxOptions) (*sql.Tx, error)
}

// cause prefers the context's error: lib/pq reports an expired context as a
// cancelled query.
func cause(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil && !errors.Is(err, ctx.Err()) {
		return fmt.Errorf("%w: %w", ctx.Err(), err)
	}
	return err
}

// isRace reports whether err is a deadlock or a serialization failure.
func isRace(err error) bool {
	s := sqlState(err)
	return s == "40P01" || s == "40001"
}

// IsUnique reports whether err is the violation of a unique key, for all supported
// drivers.
func IsUnique(err error) bool {
	var lite interface{ Code() int }
	if errors.As(err, &lite) {
		return lite.Code() == 2067 || lite.Code() == 1555
	}
	return sqlState(err) == "23505"
}

func sqlState(err error) string {
	var pg interface{ SQLState() string }
	if errors.As(err, &pg) {
		return pg.SQLState()
	}
	return ""
}

// Micros returns t as it is stored in a BIGINT: microseconds since 1970, 0 for the
// zero time.
func Micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// Time returns the time of a BIGINT column written by [Micros].
func Time(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}
