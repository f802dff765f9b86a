package database

import (
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"
)

// Observe makes db call fn after each committed transaction of this package, with
// the number of inserted, changed and deleted rows, including cascades. A nil fn
// stops that. It is for tests that bound transactions, and costs each transaction
// two statements.
func Observe(ctx context.Context, db *sqlx.DB, fn func(rows int64)) error {
	d, err := Of(ctx, db)
	if err != nil {
		return err
	}
	if fn == nil {
		d.observer.Store(nil)
		return nil
	}
	d.observer.Store(&fn)
	return nil
}

// written returns the number of rows written by tx and earlier transactions on the
// same connection.
func (d *DB) written(ctx context.Context, tx *Tx) (n int64, err error) {
	q := `SELECT total_changes()`
	if d.Dialect == Postgres {
		q = `SELECT CAST(COALESCE(SUM(n_tup_ins + n_tup_upd + n_tup_del), 0) AS BIGINT) FROM pg_stat_xact_user_tables`
	}
	if err := tx.GetContext(ctx, &n, q); err != nil {
		return 0, fmt.Errorf("counting written rows: %w", err)
	}
	return n, nil
}

// observed runs fn in tx, commits it and calls the observer.
func (d *DB) observed(ctx context.Context, tx *Tx, fn func(*Tx) error, observe func(rows int64)) error {
	before, err := d.written(ctx, tx)
	if err != nil {
		return err
	}
	if err := fn(tx); err != nil {
		return err
	}
	if err := tx.finish(ctx); err != nil {
		return err
	}
	after, err := d.written(ctx, tx)
	if err != nil {
		return err
	}
	if err := tx.own.Commit(); err != nil {
		return err
	}
	observe(after - before)
	return nil
}
