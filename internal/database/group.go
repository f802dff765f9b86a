package database

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
)

// Write runs fn in a transaction like [DB.InTx]. On SQLite, writes that arrive
// while another one commits share a transaction. Each has its own savepoint, so
// that one that fails does not affect the others. Write returns once the commit is
// durable. fn may run on the goroutine of another caller, so it must only use the
// transaction and never wait for anything else. It may run again if another write
// made the transaction fail, so it must assign its results and not add to them.
func (d *DB) Write(ctx context.Context, fn func(*Tx) error) error {
	if d.Dialect != SQLite {
		return d.InTx(ctx, fn)
	}
	err := d.Wait(ctx, func(ctx context.Context) error { return d.writes.Do(ctx, fn) })
	d.touch(ctx)
	if p, ok := errors.AsType[*panicked](err); ok {
		panic(p) // in the goroutine of fn's caller
	}
	return err
}

// panicked carries a panic from the goroutine of the batch to that of the caller.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("panic in write: %v\n%s", p.value, p.stack) }

// errLost reports that a transaction ended before its commit. SQLite rolls it back
// completely when the context of one statement ends.
var errLost = errors.New("the transaction is lost")

// writeGroup commits several writes in one transaction. The gate must be held.
func (d *DB) writeGroup(ctx context.Context, fns []func(*Tx) error) []error {
	errs := make([]error, len(fns))
	if len(fns) == 1 {
		errs[0] = d.writeAlone(ctx, fns[0])
		return errs
	}
	err := d.tx(ctx, func(tx *Tx) error {
		for i, fn := range fns {
			var lost error
			if errs[i], lost = savepoint(tx, fn); lost != nil {
				return fmt.Errorf("%w: %w", errLost, lost)
			}
		}
		return nil
	})
	for i := range errs {
		switch {
		case errs[i] != nil:
			errs[i] = unwritable(errs[i])
		case errors.Is(err, errLost): // another write failed: this one gets a transaction of its own
			errs[i] = d.writeAlone(ctx, fns[i])
		default:
			errs[i] = err
		}
	}
	return errs
}

func (d *DB) writeAlone(ctx context.Context, fn func(*Tx) error) error {
	return d.tx(ctx, func(tx *Tx) error { return protect(tx, fn) })
}

// savepoint runs fn in a savepoint, so that its failure undoes only its own rows.
// lost reports that the whole transaction has failed.
func savepoint(tx *Tx, fn func(*Tx) error) (failed, lost error) {
	ctx, part := context.Background(), tx.part()
	if _, err := tx.on.ExecContext(ctx, "SAVEPOINT write"); err != nil {
		return nil, err
	}
	if failed = protect(part, fn); failed == nil {
		failed = part.finish(ctx)
	}
	if failed != nil {
		if _, err := tx.on.ExecContext(ctx, "ROLLBACK TO write"); err != nil {
			return failed, fmt.Errorf("undoing a failed write: %w", err)
		}
	} else {
		for _, topic := range part.topics {
			tx.NotifyAfter(topic)
		}
		tx.hooks = append(tx.hooks, part.hooks...)
	}
	_, lost = tx.on.ExecContext(ctx, "RELEASE write")
	return failed, lost
}

func protect(tx *Tx, fn func(*Tx) error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &panicked{v, debug.Stack()}
		}
	}()
	return fn(tx)
}
