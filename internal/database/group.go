package database

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/jmoiron/sqlx"
)

// groupLimit bounds how many writes share one commit.
const groupLimit = 256

// group collects the writes that wait while another commit is under way.
type group struct {
	mu    sync.Mutex
	queue []*write
}

// write is one caller's part of a grouped commit.
type write struct {
	fn    func(*sqlx.Tx) error
	taken atomic.Bool // by the leader, or by the caller who gave up
	done  chan error
}

// Write runs fn in a transaction like [DB.InTx]. On SQLite, writes that arrive
// while another commits are committed together, each in a savepoint of its
// own: one that fails takes nothing with it. Write returns once the commit is
// durable. Because fn may run on another caller's goroutine it must only use
// the transaction, and never wait for anything else.
func (d *DB) Write(ctx context.Context, fn func(*sqlx.Tx) error) error {
	if d.Dialect != SQLite {
		return d.InTx(ctx, fn)
	}
	w := &write{fn: fn, done: make(chan error, 1)}
	d.group.mu.Lock()
	d.group.queue = append(d.group.queue, w)
	d.group.mu.Unlock()
	for {
		select {
		case err := <-w.done:
			return result(err)
		case d.gate <- struct{}{}:
			d.lead(ctx)
			<-d.gate
		case <-ctx.Done():
			if w.taken.CompareAndSwap(false, true) {
				return ctx.Err()
			}
			return result(<-w.done)
		}
	}
}

// result raises a panic of fn where fn's caller can see it.
func result(err error) error {
	var p *panicked
	if errors.As(err, &p) {
		panic(p)
	}
	return err
}

// panicked carries a panic from the leader's goroutine to the caller's.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("panic in write: %v\n%s", p.value, p.stack) }

// lead commits what waits. The caller holds the gate.
func (d *DB) lead(ctx context.Context) {
	ws := d.group.take()
	if len(ws) == 0 {
		return
	}
	errs := make([]error, len(ws))
	// The leader's own deadline must not end its neighbours' writes.
	err := d.tx(context.WithoutCancel(ctx), func(tx *sqlx.Tx) error {
		for i, w := range ws {
			var broken error
			if errs[i], broken = savepoint(tx, w.fn, len(ws) > 1); broken != nil {
				return broken
			}
		}
		if len(ws) == 1 {
			return errs[0]
		}
		return nil
	})
	for i, w := range ws {
		if errs[i] == nil {
			errs[i] = err
		}
		w.done <- errs[i]
	}
}

func (g *group) take() []*write {
	g.mu.Lock()
	defer g.mu.Unlock()
	var ws []*write
	n := 0
	for n < len(g.queue) && len(ws) < groupLimit {
		if g.queue[n].taken.CompareAndSwap(false, true) {
			ws = append(ws, g.queue[n])
		}
		n++
	}
	g.queue = append(g.queue[:0:0], g.queue[n:]...)
	return ws
}

// savepoint runs fn so that its failure undoes only its own rows. The second
// error says that the whole transaction is lost.
func savepoint(tx *sqlx.Tx, fn func(*sqlx.Tx) error, nested bool) (failed, broken error) {
	if nested {
		if _, err := tx.Exec("SAVEPOINT write"); err != nil {
			return nil, err
		}
	}
	failed = protect(tx, fn)
	if !nested {
		return failed, nil
	}
	if failed != nil {
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
