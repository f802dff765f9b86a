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
)

// BenchmarkReceive stores texts of 1,024 contacts for 64 callers, durably. The
// floor is what the same connections do with one INSERT and one COMMIT each;
// it is measured right before.
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
			floor := naive(b, db)
			require.NoError(b, messaging.Migrate(b.Context(), db))
			svc, err := messaging.New(b.Context(), db, &messaging.Options{Providers: []provider.Provider{sandbox.New()}})
			require.NoError(b, err)
			ref, err := svc.For("one").CreateReference(b.Context(), messaging.NewReference{Name: "x", Type: sandbox.Kind})
			require.NoError(b, err)
			receive := func(n int) {
				m := text(fmt.Sprint("m", n), fmt.Sprint("c", n%benchChats, "@sandbox"), "Hello, is this still available?")
				m.From.Name, m.At = "Ana", time.Now()
				if err := svc.Receive(b.Context(), ref.ID, []provider.Event{m}); err != nil {
					b.Error(err)
				}
			}
			callers(benchChats, receive) // they are known
			b.ReportAllocs()
			b.ResetTimer()
			callers(b.N, func(n int) { receive(benchChats + n) })
			rate := float64(b.N) / b.Elapsed().Seconds()
			b.ReportMetric(rate, "msg/s")
			b.ReportMetric(floor, "floor/s")
			b.ReportMetric(rate/floor, "×floor")
		})
	}
}

// callers calls fn with 0 … n-1, 64 at a time.
func callers(n int, fn func(int)) {
	var next atomic.Int64
	var all sync.WaitGroup
	for range benchCallers {
		all.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				fn(i)
			}
		})
	}
	all.Wait()
}

// naive inserts rows of a message's size, each with a commit of its own, and
// returns rows per second.
func naive(b *testing.B, db *sqlx.DB) float64 {
	b.Helper()
	_, err := db.ExecContext(b.Context(), `CREATE TABLE floor (id TEXT PRIMARY KEY, body TEXT NOT NULL, at BIGINT NOT NULL)`)
	require.NoError(b, err)
	const rows = 3000
	begun := time.Now()
	callers(rows, func(n int) {
		_, err := db.ExecContext(b.Context(), `INSERT INTO floor (id, body, at) VALUES ($1, $2, $3)`,
			fmt.Sprint("m", n), "Hello, is this still available?", time.Now().UnixMicro())
		if err != nil {
			b.Error(err)
		}
	})
	return rows / time.Since(begun).Seconds()
}
