package database

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"
)

const (
	// requestWait is how long what a request writes waits until the database takes it.
	requestWait = 5 * time.Second
	// requestRead is how long a statement may take with which a request reads.
	requestRead = 15 * time.Second
	// requestsWaiting is how many requests wait for the database at most.
	requestsWaiting = 2000
)

var (
	errNotTaken    = errors.New("it took no transaction within 5 seconds")
	errNotAnswered = errors.New("it did not answer in time")
	errTooMany     = errors.New("too many requests wait for it")
)

type requestKey struct{}

// ForRequest returns a context for what a client waits for. A transaction that the
// database does not begin, or does not answer, within five seconds fails with
// [ErrUnwritable], and so does a read that takes fifteen. When very many wait, others
// fail at once.
func ForRequest(ctx context.Context) context.Context {
	return context.WithValue(ctx, requestKey{}, requestRead)
}

// ForCallback is [ForRequest] for what a network reports, and repeats: its reads may
// take five seconds.
func ForCallback(ctx context.Context) context.Context {
	return context.WithValue(ctx, requestKey{}, requestWait)
}

// readWithin returns how long a read of a request may take; 0: it is no request.
func readWithin(ctx context.Context) time.Duration {
	d, _ := ctx.Value(requestKey{}).(time.Duration)
	return d
}

func isRequest(ctx context.Context) bool { return readWithin(ctx) > 0 }

// RequestSilence returns how long PostgreSQL may take to begin the answer to a
// statement in a transaction: less if a client waits for it.
func RequestSilence(ctx context.Context) time.Duration {
	if isRequest(ctx) {
		return requestWait
	}
	return SilenceOf(ctx)
}

// begin begins a transaction, which end releases. A request does not wait longer than
// [requestWait] for it.
func (s *shared) begin(ctx context.Context, on beginner) (started *sql.Tx, end func(), err error) {
	if !isRequest(ctx) {
		started, err = on.BeginTx(ctx, nil)
		return started, func() {}, err
	}
	// The context is that of the whole transaction: it must not end after the begin.
	within, cancel := context.WithCancelCause(ctx)
	stop := afterTwo(requestWait/2, func() { cancel(errNotTaken) })
	err = s.counted(func() (err error) {
		started, err = on.BeginTx(within, nil)
		return err
	})
	stop()
	if err != nil {
		err = reason(ctx, within, err)
		cancel(nil)
	}
	return started, func() { cancel(nil) }, err
}

// Wait calls fn, in which a request waits for other writers, with a context that
// limits that: see [ForRequest].
func (s *shared) Wait(ctx context.Context, fn func(context.Context) error) error {
	return s.limited(ctx, requestWait, errNotTaken, fn)
}

// read calls fn, which reads, with a context that limits that.
func (s *shared) read(ctx context.Context, fn func(context.Context) error) error {
	return s.limited(ctx, readWithin(ctx), errNotAnswered, fn)
}

func (s *shared) limited(ctx context.Context, d time.Duration, cause error, fn func(context.Context) error) error {
	if !isRequest(ctx) {
		return fn(ctx)
	}
	within, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer afterTwo(d/2, func() { cancel(cause) })()
	return reason(ctx, within, s.counted(func() error { return fn(within) }))
}

// afterTwo calls fn after d has passed twice, unless it is stopped before. A process
// that was suspended for longer then still has one d to finish what it waits for.
func afterTwo(d time.Duration, fn func()) (stop func()) {
	var mu sync.Mutex
	var timer *time.Timer
	ended, once := false, false
	mu.Lock()
	defer mu.Unlock()
	timer = time.AfterFunc(d, func() {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case ended:
		case once:
			fn()
		default:
			once = true
			timer.Reset(d)
		}
	})
	return func() {
		mu.Lock()
		defer mu.Unlock()
		ended = true
		timer.Stop()
	}
}

// counted calls fn unless too many wait.
func (s *shared) counted(fn func() error) error {
	defer s.waiting.Add(-1)
	if s.waiting.Add(1) > requestsWaiting {
		return &storeError{errTooMany}
	}
	return fn()
}

// reason returns an [ErrUnwritable] if err is because the context within has ended,
// and not the one that it was made of.
func reason(ctx, within context.Context, err error) error {
	if err == nil || ctx.Err() != nil || within.Err() == nil || errors.Is(err, ErrUnwritable) {
		return err
	}
	return &storeError{context.Cause(within)}
}
