package lane_test

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
	"github.com/trunklinehq/trunkline/internal/lane"
	"github.com/trunklinehq/trunkline/internal/testkit"
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

// BenchmarkDrain works off 20,000 items of ten consumers and 1,000 keys.
func BenchmarkDrain(b *testing.B) {
	const items = 20000
	for _, blocked := range []int{0, 50000} {
		b.Run(fmt.Sprintf("blocked=%d", blocked), func(b *testing.B) {
			eachDurable(b, func(b *testing.B, db *sqlx.DB) {
				var left atomic.Int64
				drained := make(chan struct{})
				q := newQueue(b, db, lane.Options{Logger: quiet, Handle: func(ctx context.Context, it lane.Item) lane.Outcome {
					if it.Consumer == "blocked" { // an endpoint that hangs
						<-ctx.Done()
						return lane.Outcome{Verdict: lane.Yield}
					}
					if left.Add(-1) == 0 {
						close(drained)
					}
					return lane.Outcome{}
				}, Drain: time.Millisecond})
				if blocked > 0 {
					put(b, db, q, entries("blocked", 500, blocked)...)
				}
				start(b, q)
				eventually(b, func() bool { s, err := q.Stats(b.Context()); return err == nil && s.Unrouted == 0 })
				for b.Loop() {
					b.StopTimer()
					left.Store(items)
					drained = make(chan struct{})
					var es []lane.Entry
					for c := range 10 {
						es = append(es, entries(fmt.Sprintf("c%d", c), 100, items/10)...)
					}
					in(b, db, func(tx *sqlx.Tx) error { return q.PutTx(b.Context(), tx, es...) })
					b.StartTimer()
					q.Committed()
					<-drained
				}
				b.ReportMetric(float64(b.N)*items/b.Elapsed().Seconds(), "items/s")
			})
		})
	}
}

// BenchmarkPut commits entries one by one from 16 producers.
func BenchmarkPut(b *testing.B) {
	eachDurable(b, func(b *testing.B, db *sqlx.DB) {
		d, err := database.Of(b.Context(), db)
		require.NoError(b, err)
		q := newQueue(b, db, lane.Options{Logger: quiet, Handle: done(&sink{})})
		const producers, each = 16, 100
		for b.Loop() {
			var wg sync.WaitGroup
			for p := range producers {
				wg.Go(func() {
					for range each {
						if err := d.Write(b.Context(), func(tx *sqlx.Tx) error {
							return q.PutTx(b.Context(), tx, lane.Entry{Consumer: "c", Key: fmt.Sprint(p), Subject: "s"})
						}); err != nil {
							b.Error(err)
						}
					}
				})
			}
			wg.Wait()
		}
		b.ReportMetric(float64(b.N)*producers*each/b.Elapsed().Seconds(), "items/s")
	})
}

// BenchmarkLatency is the time from a commit to the handler on an idle queue.
func BenchmarkLatency(b *testing.B) {
	eachDurable(b, func(b *testing.B, db *sqlx.DB) {
		handled := make(chan time.Time, 1)
		q := newQueue(b, db, lane.Options{Logger: quiet, Handle: func(context.Context, lane.Item) lane.Outcome {
			handled <- time.Now()
			return lane.Outcome{}
		}})
		start(b, q)
		var took []time.Duration
		for b.Loop() {
			in(b, db, func(tx *sqlx.Tx) error {
				return q.PutTx(b.Context(), tx, lane.Entry{Consumer: "c", Key: "k", Subject: "s"})
			})
			begun := time.Now()
			q.Committed()
			took = append(took, (<-handled).Sub(begun))
			idle(b, q)
		}
		report(b, took)
	})
}

// BenchmarkHanging is the time from a commit to the handler at 500 items a
// second for ten consumers, of which one hangs or none.
func BenchmarkHanging(b *testing.B) {
	for _, hanging := range []int{0, 1} {
		b.Run(fmt.Sprintf("hanging=%d", hanging), func(b *testing.B) {
			eachDurable(b, func(b *testing.B, db *sqlx.DB) {
				const n = 500
				var mu sync.Mutex
				var took []time.Duration
				put := map[string]time.Time{}
				q := newQueue(b, db, lane.Options{
					Logger: quiet, Drain: time.Millisecond,
					Handle: func(ctx context.Context, it lane.Item) lane.Outcome {
						if it.Consumer == "c0" && hanging > 0 {
							<-ctx.Done()
							return lane.Outcome{Verdict: lane.Yield}
						}
						mu.Lock()
						defer mu.Unlock()
						took = append(took, time.Since(put[it.Subject]))
						return lane.Outcome{}
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
						in(b, db, func(tx *sqlx.Tx) error {
							return q.PutTx(b.Context(), tx, lane.Entry{Consumer: fmt.Sprintf("c%d", i%10), Key: fmt.Sprint(i % 100), Subject: subject})
						})
						q.Committed()
					}
					tick.Stop()
				}
				eventually(b, func() bool { mu.Lock(); defer mu.Unlock(); return len(took) >= len(put)*(10-hanging)/10 })
				mu.Lock()
				defer mu.Unlock()
				report(b, took)
			})
		})
	}
}

// report gives the median and the worst in a hundred.
func report(b *testing.B, took []time.Duration) {
	b.Helper()
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}
