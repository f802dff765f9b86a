package queue_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/queue"
	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/internal/testsignal"
)

// timeout is how long a test waits for another process, or for a node to stop.
const timeout = 60 * time.Second

// newQueue returns a queue in db, named q unless o says otherwise.
func newQueue(t testing.TB, db *sqlx.DB, o queue.Options) *queue.Queue {
	t.Helper()
	require.NoError(t, queue.Migrate(t.Context(), db))
	testkit.CheckLocks(t, db)
	if o.Name == "" {
		o.Name = "q"
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.NewTextHandler(t.Output(), nil))
	}
	q, err := queue.New(t.Context(), db, o)
	require.NoError(t, err)
	return q
}

// start runs q until the test ends, or stop is called.
func start(t testing.TB, q *queue.Queue) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- q.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(t, <-done)
	})
	t.Cleanup(stop)
	return stop
}

// put commits jobs and wakes the queue.
func put(t testing.TB, db *sqlx.DB, q *queue.Queue, es ...queue.JobArgs) {
	t.Helper()
	in(t, db, func(tx *database.Tx) error { return q.PutTx(t.Context(), tx, es...) })
	q.Notify()
}

// in runs fn in a transaction.
func in(t testing.TB, db *sqlx.DB, fn func(tx *database.Tx) error) {
	t.Helper()
	require.NoError(t, inTx(t, db, fn))
}

// inTx is in for other goroutines than the test's.
func inTx(t testing.TB, db *sqlx.DB, fn func(tx *database.Tx) error) error {
	d, err := database.Of(t.Context(), db)
	if err != nil {
		return err
	}
	return d.Write(t.Context(), fn)
}

// jobs are n jobs of a subscriber, spread over keys. Subjects count from 1
// within a key.
func jobArgs(subscriber string, keys, n int) []queue.JobArgs {
	es := make([]queue.JobArgs, n)
	for i := range es {
		es[i] = queue.JobArgs{Subscriber: subscriber, Key: fmt.Sprintf("k%d", i%keys), Subject: fmt.Sprint(i/keys + 1)}
	}
	return es
}

// sink keeps what was handled.
type sink struct {
	mu      sync.Mutex
	seen    map[string][]string // subscriber/key → subjects, in order
	n       int
	changed testsignal.Signal
}

func (s *sink) add(it queue.Job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen == nil {
		s.seen = map[string][]string{}
	}
	k := it.Subscriber + "/" + it.Key
	s.seen[k] = append(s.seen[k], it.Subject)
	s.n++
	s.changed.Send()
}

func (s *sink) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.n
}

// of is what was handled of one subscriber and key.
func (s *sink) of(name string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.seen[name]...)
}

// await waits until n jobs were handled.
func (s *sink) await(t testing.TB, n int) {
	t.Helper()
	until(t, &s.changed, func() bool { return s.count() >= n })
}

// inOrder requires each key's subjects 1 … n, once each and in order.
func (s *sink) inOrder(t testing.TB, keys, n int) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	require.Len(t, s.seen, keys)
	for k, subjects := range s.seen {
		require.Len(t, subjects, n, k)
		for i, subject := range subjects {
			require.Equal(t, fmt.Sprint(i+1), subject, k)
		}
	}
}

// until waits until ok returns true, which it asks now and after each signal.
func until(t testing.TB, s *testsignal.Signal, ok func() bool) {
	t.Helper()
	testkit.Until(t, []*testsignal.Signal{s}, ok)
}

// untilStats waits until ok returns true for what q counts, which it asks now and
// after each commit on the handle of q.
func untilStats(t testing.TB, q *queue.Queue, ok func(queue.Stats) bool) {
	t.Helper()
	var s queue.Stats
	defer func() {
		if t.Failed() {
			t.Logf("counted: %+v", s)
		}
	}()
	until(t, q.Commits(), func() bool {
		var err error
		s, err = q.Stats(t.Context())
		require.NoError(t, err)
		return ok(s)
	})
}

// logSignal is a log that sends a signal with each line.
type logSignal struct{ testsignal.Signal }

func (*logSignal) Enabled(context.Context, slog.Level) bool { return true }

func (l *logSignal) Handle(context.Context, slog.Record) error {
	l.Send()
	return nil
}

func (l *logSignal) WithAttrs([]slog.Attr) slog.Handler { return l }
func (l *logSignal) WithGroup(string) slog.Handler      { return l }

// eventually is for what other processes do.
func eventually(t testing.TB, ok func() bool) {
	t.Helper()
	require.Eventually(t, ok, timeout, 2*time.Millisecond)
}

// idle waits until nothing is queued any more. What finishes the last work must be on
// the handle of q.
func idle(t testing.TB, q *queue.Queue) {
	t.Helper()
	untilStats(t, q, isIdle)
}

func isIdle(s queue.Stats) bool { return s.Ready+s.Leased+s.Waiting == 0 }

func done(s *sink) func(context.Context, queue.Job) queue.Outcome {
	return func(_ context.Context, it queue.Job) queue.Outcome {
		s.add(it)
		return queue.Outcome{}
	}
}
