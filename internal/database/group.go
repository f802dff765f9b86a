package database

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/jmoiron/sqlx"
)

// Write runs fn in a transaction like [DB.InTx]. On SQLite, writes that arrive
// while another commits are committed together, each in a savepoint of its
// own: one that fails takes nothing with it. Write returns once the commit is
// durable. Because fn may run on another caller's goroutine it must only use
// the transaction, and never wait for anything else.
func (d *DB) Write(ctx context.Context, fn func(*sqlx.Tx) error) error {
	if d.Dialect != SQLite {
		return d.InTx(ctx, fn)
	}
	err := d.writes.Do(ctx, fn)
	var p *panicked
	if errors.As(err, &p) {
		panic(p) // where fn's caller can see it
	}
	return err
}

// panicked carries a panic from the leader's goroutine to the caller's.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("panic in write: %v\n%s", p.value, p.stack) }

// writeGroup commits writes together. It runs while the gate is held.
func (d *DB) writeGroup(ctx context.Context, fns []func(*sqlx.Tx) error) []error {
	errs := make([]error, len(fns))
	err := d.tx(ctx, func(tx *sqlx.Tx) error {
		if len(fns) == 1 {
			return protect(tx, fns[0])
		}
		for i, fn := range fns {
			var broken error
			if errs[i], broken = savepoint(tx, fn); broken != nil {
				return broken
			}
		}
		return nil
	})
	for i := range errs {
		if errs[i] == nil {
			errs[i] = err
		}
	}
	return errs
}

// savepoint runs fn so that its failure undoes only its own rows. The second
// error says that the whole transaction is lost.
func savepoint(tx *sqlx.Tx, fn func(*sqlx.Tx) error) (failed, broken error) {
	if _, err := tx.Exec("SAVEPOINT write"); err != nil {
		return nil, err
	}
	if failed = protect(tx, fn); failed != nil {
		if _, err := tx.Exec("ROLLBACK TO write"); err != nil {
			return failed, fmt.Errorf("undoing a failed write: %w", err)
		}
	}
	_, broken = tx.Exec("RELEASE write")
	return failed, broken
}

func protect(tx *sqlx.Tx, fn func(*sqlx.Tx) error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &panicked{v, debug.Stack()}
		}
	}()
	return fn(tx)
}
