package database

import (
	"context"
	"database/sql/driver"
	"fmt"

	"github.com/jmoiron/sqlx"
)

// WriteLazy is like InTx for data that a power cut may undo, such as leases: it
// does not wait until the commit is on disk. No later commit survives without it.
// On PostgreSQL fn must request that itself, with [LazySQL].
func (d *DB) WriteLazy(ctx context.Context, fn func(*Tx) error) error {
	if d.Dialect != SQLite {
		return d.InTx(ctx, fn)
	}
	if err := d.enter(ctx); err != nil {
		return err
	}
	defer func() { <-d.gate }()
	conn, err := d.Connx(ctx)
	if err != nil {
		return cause(ctx, &storeError{err})
	}
	defer conn.Close() //nolint:errcheck // it goes back to the pool
	restore, err := unsynchronized(ctx, conn)
	if err != nil {
		return cause(ctx, unwritable(err))
	}
	defer restore()
	defer d.touch(ctx)
	return d.txOn(ctx, conn, fn)
}

// LazySQL is a column whose evaluation makes the commit of its transaction
// asynchronous on PostgreSQL.
const LazySQL = `set_config('synchronous_commit', 'off', true)`

// Levels of SQLite's pragma synchronous.
const normal = 1 // in WAL mode: a commit is not waited for, a checkpoint is

// unsynchronized makes commits of a SQLite connection return before they are on
// disk, until restore is called.
func unsynchronized(ctx context.Context, conn *sqlx.Conn) (restore func(), err error) {
	var level int
	if err := conn.GetContext(ctx, &level, `PRAGMA synchronous`); err != nil {
		return nil, err
	}
	if level <= normal {
		return func() {}, nil
	}
	set := func(ctx context.Context, level int) error {
		_, err := conn.ExecContext(ctx, fmt.Sprintf(`PRAGMA synchronous = %d`, level))
		return err
	}
	if err := set(ctx, normal); err != nil {
		return nil, err
	}
	return func() {
		if set(context.WithoutCancel(ctx), level) != nil { // other callers must not get such a connection
			_ = conn.Raw(func(any) error { return driver.ErrBadConn })
		}
	}, nil
}
