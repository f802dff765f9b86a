package knowledge_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/trunklinehq/trunkline/aiflow/knowledge"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/database/open"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// BenchmarkWritersBesideUploads measures how long four others, who write one row
// every 5 ms each, wait for their commits while three files of 1 MiB of distinct
// words are uploaded again and again. The floor is the same without uploads.
func BenchmarkWritersBesideUploads(b *testing.B) {
	b.Run("sqlite", func(b *testing.B) { writersBesideUploads(b, "sqlite://"+b.TempDir()+"/bench.db") })
	b.Run("postgres", func(b *testing.B) {
		writersBesideUploads(b, testkit.PostgresServer(b, testkit.PostgresOptions{Durable: true}).Database(b))
	})
}

func writersBesideUploads(b *testing.B, url string) {
	handle, err := open.Open(b.Context(), url)
	require.NoError(b, err)
	defer handle.Close() //nolint:errcheck // the run is over
	f := setup(b, handle, &knowledge.Options{})
	db, err := database.Of(b.Context(), handle)
	require.NoError(b, err)
	_, err = db.ExecContext(b.Context(), `CREATE TABLE written (id BIGINT NOT NULL PRIMARY KEY, text TEXT NOT NULL)`)
	require.NoError(b, err)
	var alone, beside []time.Duration
	var slowest time.Duration
	next := int64(0)
	for b.Loop() {
		ctx, cancel := context.WithTimeout(b.Context(), 3*time.Second)
		alone = append(alone, writes(ctx, b, db, &next)...)
		cancel()
		ctx, cancel = context.WithCancel(b.Context())
		var uploads errgroup.Group
		for i := range 3 {
			text := random(1<<20, uint64(next)+uint64(i))
			uploads.Go(func() error {
				began := time.Now()
				_, err := f.Add(b.Context(), f.project, knowledge.NewFile{Name: "a.txt", Data: []byte(text)})
				if i == 0 {
					slowest = max(slowest, time.Since(began))
				}
				return err
			})
		}
		go func() { _ = uploads.Wait(); cancel() }()
		beside = append(beside, writes(ctx, b, db, &next)...)
		require.NoError(b, uploads.Wait())
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(ms(percentile(alone, 95)), "ms-p95-alone")
	b.ReportMetric(ms(percentile(beside, 95)), "ms-p95-beside")
	b.ReportMetric(ms(percentile(beside, 100)), "ms-max-beside")
	b.ReportMetric(ms(slowest), "ms-upload")
}

// writes has four writers write until ctx ends, and returns how long each write
// took.
func writes(ctx context.Context, b *testing.B, db *database.DB, next *int64) []time.Duration {
	const writers = 4
	durations := make([][]time.Duration, writers)
	var g errgroup.Group
	for w := range writers {
		g.Go(func() error {
			tick := time.NewTicker(5 * time.Millisecond)
			defer tick.Stop()
			for i := int64(0); ; i++ {
				select {
				case <-ctx.Done():
					return nil
				case <-tick.C:
				}
				began := time.Now()
				err := db.Write(b.Context(), func(tx *database.Tx) error {
					_, err := tx.ExecContext(b.Context(), `INSERT INTO written (id, text) VALUES ($1, $2)`, *next+i*writers+int64(w), strings.Repeat("x", 500))
					return err
				})
				if err != nil {
					return err
				}
				durations[w] = append(durations[w], time.Since(began))
			}
		})
	}
	require.NoError(b, g.Wait())
	*next += 1 << 30
	return slices.Concat(durations...)
}

// random is text of distinct words.
func random(bytes int, seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	for i := 0; b.Len() < bytes; i++ {
		fmt.Fprintf(&b, "%c%06x ", 'g'+i%20, r.Uint32()>>8)
		if i%100 == 99 {
			b.WriteString("\n\n")
		}
	}
	return b.String()
}

func percentile(ds []time.Duration, p int) time.Duration {
	slices.Sort(ds)
	return ds[(len(ds)-1)*p/100]
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
