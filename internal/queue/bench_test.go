package queue_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/queue"
	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/internal/testsignal"
)

var quiet = slog.New(slog.DiscardHandler)

// eachDurable runs fn on both databases with the durability of production.
func eachDurable(b *testing.B, fn func(b *testing.B, db *sqlx.DB)) {
	b.Run("sqlite", func(b *testing.B) {
		fn(b, testkit.Open(b, "sqlite://"+b.TempDir()+"/bench.db"))
	})
	b.Run("postgres", func(b *testing.B) {
		s := testkit.PostgresServer(b, testkit.PostgresOptions{Durable: true})
		fn(b, testkit.Open(b, s.Database(b)))
	})
}

// BenchmarkDrain works off 20,000 jobs of ten subscribers and 1,000 keys.
func BenchmarkDrain(b *testing.B) {
	const jobs = 20000
	for _, blocked := range []int{0, 50000} {
		b.Run(fmt.Sprintf("blocked=%d", blocked), func(b *testing.B) {
			eachDurable(b, func(b *testing.B, db *sqlx.DB) {
				var left atomic.Int64
				drained := make(chan struct{})
				q := newQueue(b, db, queue.Options{Logger: quiet, Handle: func(ctx context.Context, it queue.Job) queue.Outcome {
					if it.Subscriber == "blocked" { // an endpoint that hangs
						<-ctx.Done()
						return queue.Outcome{Result: queue.Snooze}
					}
					if left.Add(-1) == 0 {
						close(drained)
					}
					return queue.Outcome{}
				}, Drain: time.Millisecond})
				if blocked > 0 {
					put(b, db, q, jobArgs("blocked", 500, blocked)...)
				}
				start(b, q)
				for b.Loop() {
					b.StopTimer()
					left.Store(jobs)
					drained = make(chan struct{})
					var es []queue.JobArgs
					for c := range 10 {
						es = append(es, jobArgs(fmt.Sprintf("c%d", c), 100, jobs/10)...)
					}
					in(b, db, func(tx *database.Tx) error { return q.PutTx(b.Context(), tx, es...) })
					b.StartTimer()
					q.Notify()
					<-drained
				}
				b.ReportMetric(float64(b.N)*jobs/b.Elapsed().Seconds(), "jobs/s")
			})
		})
	}
}

// BenchmarkPut commits jobs one by one from 16 producers.
func BenchmarkPut(b *testing.B) {
	eachDurable(b, func(b *testing.B, db *sqlx.DB) {
		d, err := database.Of(b.Context(), db)
		require.NoError(b, err)
		q := newQueue(b, db, queue.Options{Logger: quiet, Handle: done(&sink{})})
		const producers, each = 16, 100
		for b.Loop() {
			var wg sync.WaitGroup
			for p := range producers {
				wg.Go(func() {
					for range each {
						if err := d.Write(b.Context(), func(tx *database.Tx) error {
							return q.PutTx(b.Context(), tx, queue.JobArgs{Subscriber: "c", Key: fmt.Sprint(p), Subject: "s"})
						}); err != nil {
							b.Error(err)
						}
					}
				})
			}
			wg.Wait()
		}
		b.ReportMetric(float64(b.N)*producers*each/b.Elapsed().Seconds(), "jobs/s")
	})
}

// BenchmarkLatency is the time from a commit to the handler on an idle queue.
func BenchmarkLatency(b *testing.B) {
	eachDurable(b, func(b *testing.B, db *sqlx.DB) {
		handled := make(chan time.Time, 1)
		q := newQueue(b, db, queue.Options{Logger: quiet, Handle: func(context.Context, queue.Job) queue.Outcome {
			handled <- time.Now()
			return queue.Outcome{}
		}})
		start(b, q)
		var elapsed []time.Duration
		for b.Loop() {
			in(b, db, func(tx *database.Tx) error {
				return q.PutTx(b.Context(), tx, queue.JobArgs{Subscriber: "c", Key: "k", Subject: "s"})
			})
			started := time.Now()
			q.Notify()
			elapsed = append(elapsed, (<-handled).Sub(started))
			idle(b, q)
		}
		report(b, elapsed)
	})
}

// BenchmarkHanging is the time from a commit to the handler at 500 jobs a
// second for ten subscribers, of which one hangs or none.
func BenchmarkHanging(b *testing.B) {
	for _, hanging := range []int{0, 1} {
		b.Run(fmt.Sprintf("hanging=%d", hanging), func(b *testing.B) {
			eachDurable(b, func(b *testing.B, db *sqlx.DB) {
				const n = 500
				var mu sync.Mutex
				var elapsed []time.Duration
				var handled testsignal.Signal
				put := map[string]time.Time{}
				q := newQueue(b, db, queue.Options{
					Logger: quiet, Drain: time.Millisecond,
					Handle: func(ctx context.Context, it queue.Job) queue.Outcome {
						if it.Subscriber == "c0" && hanging > 0 {
							<-ctx.Done()
							return queue.Outcome{Result: queue.Snooze}
						}
						mu.Lock()
						defer mu.Unlock()
						elapsed = append(elapsed, time.Since(put[it.Subject]))
						handled.Send()
						return queue.Outcome{}
					},
				})
				start(b, q)
				for b.Loop() {
					tick := time.NewTicker(time.Second / n)
					for range n {
						<-tick.C
						mu.Lock()
						i := len(put)
						subject := fmt.Sprint(i)
						put[subject] = time.Now()
						mu.Unlock()
						in(b, db, func(tx *database.Tx) error {
							return q.PutTx(b.Context(), tx, queue.JobArgs{Subscriber: fmt.Sprintf("c%d", i%10), Key: fmt.Sprint(i % 100), Subject: subject})
						})
						q.Notify()
					}
					tick.Stop()
				}
				until(b, &handled, func() bool { mu.Lock(); defer mu.Unlock(); return len(elapsed) >= len(put)*(10-hanging)/10 })
				mu.Lock()
				defer mu.Unlock()
				report(b, elapsed)
			})
		})
	}
}

// report gives the median and the worst in a hundred.
func report(b *testing.B, elapsed []time.Duration) {
	b.Helper()
	slices.Sort(elapsed)
	b.ReportMetric(float64(elapsed[len(elapsed)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(elapsed[len(elapsed)*99/100].Microseconds()), "p99-µs")
}
