package messaging_test

import (
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/sandbox"
)

const (
	benchCallers = 64
	benchChats   = 1024
	benchRounds  = 10
)

// BenchmarkReceive stores texts of 1,024 contacts for 64 callers, durably. The
// floor is what the same connections do with one INSERT and one COMMIT each;
// the two take turns, so that what else the machine does slows both.
func BenchmarkReceive(b *testing.B) {
	for _, d := range []struct {
		name string
		url  func(b *testing.B) string
	}{
		{"sqlite", func(b *testing.B) string {
			return "sqlite://" + filepath.Join(b.TempDir(), "bench.db") + "?synchronous=full"
		}},
		{"postgres", func(b *testing.B) string {
			return testkit.PostgresServer(b, testkit.PostgresOptions{Durable: true}).Database(b)
		}},
	} {
		b.Run(d.name, func(b *testing.B) {
			db := testkit.Open(b, d.url(b))
			floor, receive := naive(b, db), receiver(b, db)
			callers(0, benchChats, receive) // they are known
			var floorTime time.Duration
			b.ReportAllocs()
			b.ResetTimer()
			for round := range benchRounds {
				from, to := b.N*round/benchRounds, b.N*(round+1)/benchRounds
				b.StopTimer()
				started := time.Now()
				callers(from, to, floor)
				floorTime += time.Since(started)
				b.StartTimer()
				callers(benchChats+from, benchChats+to, receive)
			}
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "msg/s")
			b.ReportMetric(float64(b.N)/floorTime.Seconds(), "floor/s")
			b.ReportMetric(floorTime.Seconds()/b.Elapsed().Seconds(), "×floor")
		})
	}
}

// receiver receives the nth message.
func receiver(b *testing.B, db *sqlx.DB) func(n int) {
	b.Helper()
	require.NoError(b, messaging.Migrate(b.Context(), db))
	svc, err := messaging.New(b.Context(), db, &messaging.Options{Providers: []provider.Provider{sandbox.New()}})
	require.NoError(b, err)
	ref, err := svc.For("one").References().Create(b.Context(), messaging.NewReference{Name: "x", Type: sandbox.Kind})
	require.NoError(b, err)
	return func(n int) {
		m := text(fmt.Sprint("m", n), fmt.Sprint("c", n%benchChats, "@sandbox"), "Hello, is this still available?")
		m.From.Name, m.At = "Ana", time.Now()
		if err := svc.Receive(b.Context(), ref.ID, []provider.Event{m}); err != nil {
			b.Error(err)
		}
	}
}

// naive inserts the nth row of a message's size, with a commit of its own.
func naive(b *testing.B, db *sqlx.DB) func(n int) {
	b.Helper()
	_, err := db.ExecContext(b.Context(), `CREATE TABLE floor (id TEXT PRIMARY KEY, body TEXT NOT NULL, at BIGINT NOT NULL)`)
	require.NoError(b, err)
	return func(n int) {
		_, err := db.ExecContext(b.Context(), `INSERT INTO floor (id, body, at) VALUES ($1, $2, $3)`,
			fmt.Sprint("m", n), "Hello, is this still available?", time.Now().UnixMicro())
		if err != nil {
			b.Error(err)
		}
	}
}

// callers calls fn with from … to-1, 64 at a time.
func callers(from, to int, fn func(int)) {
	var next atomic.Int64
	next.Store(int64(from))
	var all sync.WaitGroup
	for range benchCallers {
		all.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= to {
					return
				}
				fn(i)
			}
		})
	}
	all.Wait()
}
