// Package groupcommit combines concurrent calls: while a batch is in progress the
// next one collects calls, and one of their callers runs it. It needs no goroutine
// and no timer, so an idle group costs nothing and a single call does not wait.
package groupcommit

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"sync/atomic"
)

// ErrPanicked is returned by the calls of a batch whose Run has panicked in the
// goroutine of another caller: their outcome is unknown.
var ErrPanicked = errors.New("groupcommit: the batch panicked")

// Group batches calls. Gate and Run must be set.
type Group[T any] struct {
	// Gate holds one token for each batch that may run at a time. It may be shared
	// with other code that must exclude a batch.
	Gate chan struct{}
	// Run processes a batch and returns an error for each item. Its ctx is never
	// cancelled: the items belong to several callers.
	Run func(ctx context.Context, items []T) []error
	// Limit is the maximum number of items of a batch; 0: 256.
	Limit int

	mu    sync.Mutex
	queue []*call[T]
}

type call[T any] struct {
	item  T
	taken atomic.Bool // by a batch, or by the caller when it gave up
	done  chan error
}

// Do adds item to a batch and returns its error. If ctx ends before a batch has
// taken the item, Run never sees it.
func (g *Group[T]) Do(ctx context.Context, item T) error {
	if err := ctx.Err(); err != nil {
		return err // the select below would choose randomly
	}
	c := &call[T]{item: item, done: make(chan error, 1)}
	g.mu.Lock()
	g.queue = append(g.queue, c)
	g.mu.Unlock()
	for {
		select {
		case err := <-c.done:
			return err
		case g.Gate <- struct{}{}:
			if c.taken.Load() { // a batch with another token has it: taking turns here would be a busy loop
				<-g.Gate
				return <-c.done
			}
			g.turn(ctx)
		case <-ctx.Done():
			if c.taken.CompareAndSwap(false, true) {
				return ctx.Err()
			}
			return <-c.done
		}
	}
}

// turn runs one batch and returns the caller's token to the gate, even if Run
// panics.
func (g *Group[T]) turn(ctx context.Context) {
	defer func() { <-g.Gate }()
	g.lead(ctx)
}

// lead runs one batch. The caller must hold a token of the gate. If Run does not
// return, the other callers get [ErrPanicked].
func (g *Group[T]) lead(ctx context.Context) {
	calls := g.take()
	if len(calls) == 0 {
		return
	}
	items := make([]T, len(calls))
	for i, c := range calls {
		items[i] = c.item
	}
	var errs []error
	defer func() {
		for i, c := range calls {
			if i < len(errs) {
				c.done <- errs[i]
			} else {
				c.done <- ErrPanicked
			}
		}
	}()
	errs = g.Run(context.WithoutCancel(ctx), items)
}

func (g *Group[T]) take() []*call[T] {
	limit := g.Limit
	limit = cmp.Or(limit, 256)
	g.mu.Lock()
	defer g.mu.Unlock()
	var calls []*call[T]
	n := 0
	for n < len(g.queue) && len(calls) < limit {
		if g.queue[n].taken.CompareAndSwap(false, true) {
			calls = append(calls, g.queue[n])
		}
		n++
	}
	g.queue = append([]*call[T](nil), g.queue[n:]...) // does not retain the items that were taken
	return calls
}
