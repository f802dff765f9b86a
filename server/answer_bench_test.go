package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/botengine"
	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/sandbox"
)

// BenchmarkAnswers has a bot answer texts of [chats] contacts of the sandbox, who
// write 64 at a time. It measures until the last answer is delivered. The floor makes
// two inserts and commits for each text, as an answer is at least two messages.
func BenchmarkAnswers(b *testing.B) {
	durably(b, func(b *testing.B, url string) {
		b.Run("insert", func(b *testing.B) {
			db := floorTable(b, url)
			b.ResetTimer()
			eachOf(b, 2*b.N, func(int) error {
				_, err := db.ExecContext(b.Context(), `INSERT INTO floor (id, body) VALUES ($1, $2)`, fmt.Sprint(floorID.Add(1)), "Does it come in another color?")
				return err
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "answers/s")
		})
		s := benchServer(b, url)
		ref := answeringReference(b, s.Messaging, s.Bots)
		counter := testkit.Open(b, url)
		b.Run("trunkline", func(b *testing.B) {
			var before, delivered int
			const count = `SELECT COUNT(*) FROM messaging_message WHERE mine AND status >= $1`
			require.NoError(b, counter.GetContext(b.Context(), &before, count, provider.StatusDelivered))
			cpu := testkit.CPUTime(b)
			b.ResetTimer()
			eachOf(b, b.N, func(i int) error {
				phone := sandbox.Phone{Inbox: s.Messaging, Reference: ref, Name: fmt.Sprintf("contact%d", i%chats)}
				_, err := phone.Write(b.Context(), provider.Text{Text: "Does it come in another color?"})
				return err
			})
			for delivered < before+b.N {
				<-time.After(10 * time.Millisecond)
				require.NoError(b, counter.GetContext(b.Context(), &delivered, count, provider.StatusDelivered))
			}
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "answers/s")
			b.ReportMetric(float64((testkit.CPUTime(b)-cpu).Nanoseconds())/1e3/float64(b.N), "cpu-µs/answer")
		})
	})
}

// answeringReference is a reference of the sandbox with a bot that answers everything.
func answeringReference(b *testing.B, m *messaging.Service, bots *botengine.Service) provider.ReferenceID {
	b.Helper()
	ref, err := m.For(benchAccount).References().Create(b.Context(), messaging.NewReference{Name: "bench", Type: sandbox.Kind, Settings: map[string]string{}})
	require.NoError(b, err)
	account := bots.For(benchAccount)
	bot, err := account.Bots().Create(b.Context(), botengine.NewBot{
		Reference: int64(ref.ID), Name: "Bench", Flow: json.RawMessage(echoFlow("bench", onAnything)),
	})
	require.NoError(b, err)
	_, err = account.Versions().Publish(b.Context(), bot.ID)
	require.NoError(b, err)
	return ref.ID
}

// eachOf calls fn with 0 to n-1, in [posters] goroutines.
func eachOf(b *testing.B, n int, fn func(i int) error) {
	ctx, stop := context.WithCancel(b.Context())
	defer stop()
	var next atomic.Int64
	var wg sync.WaitGroup
	for range posters {
		wg.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if err := fn(i); err != nil {
					b.Error(err)
					stop()
				}
			}
		})
	}
	wg.Wait()
}
