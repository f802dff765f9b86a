package webhook_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/internal/testsignal"
	"github.com/trunklinehq/trunkline/webhook"
)

const (
	backlog = 10_000
	workers = 64 // requests under way, of a dispatcher as of the floor
)

// durably runs fn on both databases, set so that a commit survives a power
// cut.
func durably(b *testing.B, fn func(b *testing.B, db *sqlx.DB)) {
	b.Run("sqlite", func(b *testing.B) { fn(b, testkit.Open(b, "sqlite://"+b.TempDir()+"/bench.db")) })
	b.Run("postgres", func(b *testing.B) {
		fn(b, testkit.Open(b, testkit.PostgresServer(b, testkit.PostgresOptions{Durable: true}).Database(b)))
	})
}

// BenchmarkDrain delivers a backlog that gathered while the endpoints were
// paused, and before and after it has a bare client post the same bodies to the
// same receiver, which checks that the events of each chat come in order.
func BenchmarkDrain(b *testing.B) {
	for _, shape := range []struct {
		name             string
		endpoints, chats int
	}{{"10-endpoints", 10, 1000}, {"1-endpoint", 1, 1000}} {
		b.Run(shape.name, func(b *testing.B) {
			durably(b, func(b *testing.B, db *sqlx.DB) {
				s := newMeter(b)
				f := setup(b, db, webhook.Options{Workers: workers})
				eps := f.listen(b, shape.endpoints, s.URL)
				var bare, signed, ours consumed
				for b.Loop() {
					bare.add(s.floor(b, false))
					f.pause(b, eps)
					f.fill(b, s.bodies, shape.endpoints, shape.chats)
					f.start(b)
					ours.add(s.measure(b, func() { f.resume(b, eps) }))
					f.stop()
					s.inOrder(b, shape.chats)
					signed.add(s.floor(b, true))
				}
				report(b, bare, signed, ours)
			})
		})
	}
}

// listen makes endpoints, of a scope each.
func (f *fixture) listen(b *testing.B, n int, url string) (ids []string) {
	b.Helper()
	for i := range n {
		ep, _, err := f.Put(b.Context(), webhook.Settings{Scope: fmt.Sprint("s", i), URL: fmt.Sprint(url, "/", i)})
		require.NoError(b, err)
		ids = append(ids, ep.ID)
	}
	return ids
}

// pause is what follows when endpoints are down.
func (f *fixture) pause(b *testing.B, endpoints []string) {
	b.Helper()
	for _, id := range endpoints {
		_, err := f.raw.Exec(`INSERT INTO queue_subscriber (queue, subscriber, paused_us, probe) VALUES ('webhook', $1, $2, '')`,
			id, time.Now().Add(time.Hour).UnixMicro())
		require.NoError(b, err)
	}
}

// resume is what their owner does who has repaired them.
func (f *fixture) resume(b *testing.B, endpoints []string) {
	b.Helper()
	for _, id := range endpoints {
		_, err := f.Update(b.Context(), id, webhook.Change{Enabled: new(true)})
		require.NoError(b, err)
	}
}

// BenchmarkDrainBlocked delivers a backlog twice: alone, and while 50,000 events
// are stuck behind an endpoint at whose address nobody listens.
func BenchmarkDrainBlocked(b *testing.B) {
	durably(b, func(b *testing.B, db *sqlx.DB) {
		const endpoints, chats, stuck = 10, 1000, 50_000
		s := newMeter(b)
		f := setup(b, db, webhook.Options{Workers: workers, Logger: slog.New(slog.DiscardHandler)})
		f.listen(b, endpoints, s.URL)
		_, _, err := f.Put(b.Context(), webhook.Settings{Scope: "dead", URL: "http://127.0.0.1:1"})
		require.NoError(b, err)
		var alone, beside consumed
		for b.Loop() {
			f.fill(b, s.bodies, endpoints, chats)
			alone.add(s.measure(b, func() { f.start(b) }))
			f.stop()
			evs := make([]webhook.Event, 500)
			for n := 0; n < stuck; n += len(evs) {
				for i := range evs {
					evs[i] = benchEvent(n + i)
					evs[i].Scope = "dead"
				}
				f.publish(b, evs...)
			}
			f.fill(b, s.bodies, endpoints, chats)
			beside.add(s.measure(b, func() { f.start(b) }))
			f.stop()
			s.inOrder(b, chats)
		}
		b.ReportMetric(beside.rate()/alone.rate(), "ratio")
		b.ReportMetric(alone.cpuEach()/beside.cpuEach(), "cpu-ratio")
		b.ReportMetric(alone.rate(), "alone/s")
		b.ReportMetric(beside.rate(), "events/s")
	})
}

// fill publishes bodies, a chat after the other in turn, in transactions of
// 500.
func (f *fixture) fill(b *testing.B, bodies [][]byte, endpoints, chats int) {
	for base := 0; base < len(bodies); base += 500 {
		evs := make([]webhook.Event, 500)
		for i := range evs {
			n := base + i
			evs[i] = event(fmt.Sprint("551199999", n%chats, "@s.whatsapp.net"), n)
			evs[i].Scope, evs[i].Body, evs[i].MessageID = fmt.Sprint("s", n%endpoints), bodies[n], fmt.Sprint("wamid.", n)
		}
		f.publish(b, evs...)
	}
}

// consumed is what some events took.
type consumed struct {
	events    int
	wall, cpu time.Duration
}

func (s *consumed) add(more consumed) {
	s.events += more.events
	s.wall += more.wall
	s.cpu += more.cpu
}

func (s *consumed) rate() float64    { return float64(s.events) / s.wall.Seconds() }
func (s *consumed) cpuEach() float64 { return float64(s.cpu.Microseconds()) / float64(s.events) }

// report gives the rates, and what a busy machine does not spoil: the
// processor's time.
func report(b *testing.B, floor, signed, ours consumed) {
	b.ReportMetric(ours.rate()/floor.rate(), "ratio")
	b.ReportMetric(ours.rate()/signed.rate(), "signed-ratio")
	b.ReportMetric(floor.cpuEach()/ours.cpuEach(), "cpu-ratio")
	b.ReportMetric(signed.cpuEach()/ours.cpuEach(), "signed-cpu-ratio")
	b.ReportMetric(ours.rate(), "events/s")
	b.ReportMetric(floor.rate(), "floor/s")
	b.ReportMetric(ours.cpuEach(), "cpu-µs/event")
	b.ReportMetric(floor.cpuEach(), "floor-cpu-µs/event")
}

// meter is a receiver of bodies that are numbered.
type meter struct {
	*httptest.Server
	bodies  [][]byte
	left    atomic.Int64
	done    atomic.Pointer[chan struct{}]
	hanging atomic.Pointer[chan struct{}] // until it is closed, what is posted below /hang is not answered
	order   []int32                       // the numbers, as they came
	came    []atomic.Int64                // when each of them came, µs
	arrived testsignal.Signal
}

func newMeter(b *testing.B) *meter {
	b.Helper()
	s := &meter{bodies: make([][]byte, backlog), order: make([]int32, backlog), came: make([]atomic.Int64, backlog)}
	for i := range s.bodies {
		s.bodies[i] = fmt.Appendf(nil, `{"n":%d,%s`, i, payload[1:])
	}
	s.Server = httptest.NewServer(http.HandlerFunc(s.receive))
	b.Cleanup(s.Close)
	return s
}

func (s *meter) receive(_ http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	if until := s.hanging.Load(); until != nil && strings.HasPrefix(r.URL.Path, "/hang") {
		select {
		case <-*until:
		case <-r.Context().Done():
			return
		}
	}
	digits, _, _ := bytes.Cut(bytes.TrimPrefix(body, []byte(`{"n":`)), []byte(`,`))
	n, _ := strconv.Atoi(string(digits))
	s.came[n].Store(time.Now().UnixMicro())
	s.arrived.Send()
	left := s.left.Add(-1)
	if at := int64(len(s.order)) - 1 - left; at >= 0 && at < int64(len(s.order)) {
		s.order[at] = int32(n)
	}
	if left == 0 {
		close(*s.done.Load())
	}
}

// measure is what it takes until all bodies have come.
func (s *meter) measure(b *testing.B, fn func()) consumed {
	b.Helper()
	done := s.await(len(s.bodies))
	cpu := testkit.CPUTime(b) // it takes a while
	began := time.Now()
	fn()
	<-done
	return consumed{len(s.bodies), time.Since(began), testkit.CPUTime(b) - cpu}
}

// await is closed when n more bodies have come.
func (s *meter) await(n int) <-chan struct{} {
	done := make(chan struct{})
	s.done.Store(&done)
	s.left.Store(int64(n))
	return done
}

// floor posts all bodies with a bare client, as they are, or with the headers of
// a delivery and a signature.
func (s *meter) floor(b *testing.B, signed bool) consumed {
	b.Helper()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: workers}}
	defer client.CloseIdleConnections()
	return s.measure(b, func() {
		var next atomic.Int64
		var wg sync.WaitGroup
		for range workers {
			wg.Go(func() {
				for {
					i := next.Add(1) - 1
					if i >= int64(len(s.bodies)) {
						return
					}
					if err := s.post(client, int(i), signed); err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
	})
}

func (s *meter) post(client *http.Client, i int, signed bool) error {
	req, err := http.NewRequest(http.MethodPost, s.URL, bytes.NewReader(s.bodies[i]))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	if signed {
		id, at := fmt.Sprintf("01935f3c-7b00-7000-8000-%012d", i), strconv.FormatInt(time.Now().Unix(), 10)
		mac := hmac.New(sha256.New, []byte("0123456789abcdef0123456789abcdef"))
		mac.Write([]byte(id + "." + at + "."))
		mac.Write(s.bodies[i])
		req.Header.Set("X-Trunkline-Event", "message")
		req.Header.Set("X-Trunkline-Reference", scope)
		req.Header.Set("X-Trunkline-Sequence", strconv.Itoa(i))
		req.Header.Set("Webhook-Id", id)
		req.Header.Set("Webhook-Timestamp", at)
		req.Header.Set("Webhook-Signature", "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, res.Body)
	return res.Body.Close()
}

// inOrder checks that each chat's events came once and in order.
func (s *meter) inOrder(b *testing.B, chats int) {
	b.Helper()
	next := make([]int, chats)
	for _, n := range s.order {
		chat := int(n) % chats
		require.Equal(b, next[chat], int(n)/chats, "the next event of chat %d", chat)
		next[chat]++
	}
}
