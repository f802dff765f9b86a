// Package groupcommit turns calls that arrive together into one: while a batch is
// under way the next one gathers, and its first free caller runs it. There is
// no goroutine and no timer, so an idle group costs nothing and a lone call
// does not wait.
package groupcommit

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
)

// ErrPanicked is what the calls of a batch get whose Run has panicked on the
// goroutine of another: what has become of them is not known.
var ErrPanicked = errors.New("groupcommit: the batch panicked")

// Group gathers calls. Gate and Run must be set.
type Group[T any] struct {
	// Gate holds one token per batch that may run at a time. It may be shared
	// with others that must exclude a batch.
	Gate chan struct{}
	// Run works on a batch and returns an error for each item. Its ctx is
	// never cancelled: the items belong to many callers.
	Run func(ctx context.Context, items []T) []error
	// Limit is the most items of a batch; 0: 256.
	Limit int

	mu    sync.Mutex
	queue []*call[T]
}

type call[T any] struct {
	item  T
	taken atomic.Bool // by a batch, or by the caller who gave up
	done  chan error
}

// Do hands item to a batch and returns its error. When ctx ends before a
// batch took the item, Run never sees it.
func (g *Group[T]) Do(ctx context.Context, item T) error {
	if err := ctx.Err(); err != nil {
		return err // the select below would choose at random
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
			if c.taken.Load() { // a batch of another token has it: taking turns here would be a busy wait
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

// turn runs one batch and gives back the token of the gate that the caller holds,
// even when Run panics.
func (g *Group[T]) turn(ctx context.Context) {
	defer func() { <-g.Gate }()
	g.lead(ctx)
}

// lead runs one batch. The caller holds a token of the gate. When Run does not
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
	if limit == 0 {
		limit = 256
	}
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
	g.queue = append([]*call[T](nil), g.queue[n:]...) // what was taken is not held on to
	return calls
}
