package webhook_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/webhook"
)

// payload has the size of a usual text message's.
var payload = fmt.Appendf(nil, `{"reference":7,"ref":7,"remoteJid":"5511999990000::single","mine":false,"id":"wamid.%s","pushName":"Ana","verifiedBizName":"","messageTimestamp":1767225600,"type":"text","status":"DELIVERED","text":"%s"}`,
	bytes.Repeat([]byte("x"), 40), bytes.Repeat([]byte("y"), 250))

func benchEvent(i int) webhook.Event {
	ev := event(fmt.Sprintf("chat%d", i%1000), i)
	ev.Body, ev.MessageID = payload, "wamid"
	return ev
}

// BenchmarkPublish stores events in transactions of a size; ops are events.
func BenchmarkPublish(b *testing.B) {
	for _, size := range []int{1, 64} {
		b.Run(fmt.Sprint("tx", size), func(b *testing.B) {
			testkit.EachDatabase(b, func(b *testing.B, db *sqlx.DB) {
				f := setup(b, db, webhook.Options{})
				_, url := sink(b)
				_, _, err := f.Put(b.Context(), webhook.Settings{Scope: scope, URL: url})
				require.NoError(b, err)
				n := 0
				for b.Loop() {
					evs := make([]webhook.Event, size)
					for i := range evs {
						evs[i] = benchEvent(n + i)
					}
					f.publish(b, evs...)
					n += size
				}
				b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "events/s")
			})
		})
	}
}

const (
	drained  = 10_000
	benchers = 64 // requests under way, as a dispatcher has
)

// BenchmarkDrain delivers what is stored to one receiver, over ten endpoints;
// BenchmarkFloor posts as many with a bare client to the same receiver.
func BenchmarkDrain(b *testing.B) {
	testkit.EachDatabase(b, func(b *testing.B, db *sqlx.DB) {
		count, url := sink(b)
		for b.Loop() {
			b.StopTimer()
			f := setup(b, db, webhook.Options{Workers: benchers})
			for i := range 10 {
				_, _, err := f.Put(b.Context(), webhook.Settings{Scope: fmt.Sprint("s", i), URL: fmt.Sprint(url, "/", i)})
				require.NoError(b, err)
			}
			for base := 0; base < drained; base += 500 {
				evs := make([]webhook.Event, 500)
				for i := range evs {
					evs[i] = benchEvent(base + i)
					evs[i].Scope = fmt.Sprint("s", i%10)
				}
				f.publish(b, evs...)
			}
			done := count.wait(drained)
			b.StartTimer()
			f.start(b)
			<-done
			b.StopTimer()
			f.stop()
			b.StartTimer()
		}
		b.ReportMetric(float64(drained)*float64(b.N)/b.Elapsed().Seconds(), "events/s")
	})
}

func BenchmarkFloor(b *testing.B) {
	count, url := sink(b)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: benchers}}
	for b.Loop() {
		done := count.wait(drained)
		var wg sync.WaitGroup
		for range benchers {
			wg.Go(func() {
				for range drained/benchers + 1 {
					res, err := client.Post(url, "application/json", bytes.NewReader(payload))
					if err != nil {
						b.Error(err)
						return
					}
					_, _ = io.Copy(io.Discard, res.Body)
					_ = res.Body.Close()
				}
			})
		}
		<-done
		wg.Wait()
	}
	b.ReportMetric(float64(drained)*float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

// counter says when enough requests have come.
type counter struct {
	left atomic.Int64
	done atomic.Pointer[chan struct{}]
}

func (c *counter) wait(n int64) <-chan struct{} {
	done := make(chan struct{})
	c.done.Store(&done)
	c.left.Store(n)
	return done
}

func sink(b *testing.B) (*counter, string) {
	b.Helper()
	c := &counter{}
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if c.left.Add(-1) == 0 {
			close(*c.done.Load())
		}
	}))
	b.Cleanup(s.Close)
	return c, s.URL
}

// BenchmarkVerify checks a delivery as a receiver does.
func BenchmarkVerify(b *testing.B) {
	secret := secretOf(32)
	at := event("k", 1).At
	h := signed(b, secret, "id", at, string(payload))
	b.SetBytes(int64(len(payload)))
	for b.Loop() {
		if err := webhook.Verify(secret, h, payload, at); err != nil {
			b.Fatal(err)
		}
	}
}
