package server_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/cloud"
	"github.com/trunklinehq/trunkline/provider/graph"
	"github.com/trunklinehq/trunkline/server"
	"github.com/trunklinehq/trunkline/webhook"
)

const (
	benchSecret = "0123456789abcdef0123456789abcdef"
	posters     = 64 // callbacks under way at once
	chats       = 500
)

// durably runs fn on both databases, set so that a commit survives a power
// cut.
func durably(b *testing.B, fn func(b *testing.B, url string)) {
	b.Run("sqlite", func(b *testing.B) { fn(b, "sqlite://"+filepath.Join(b.TempDir(), "bench.db")) })
	b.Run("postgres", func(b *testing.B) {
		fn(b, testkit.PostgresServer(b, testkit.PostgresOptions{Durable: true}).Database(b))
	})
}

// BenchmarkCallback posts signed callbacks of one text each, 64 at a time,
// over loopback. Beside the server stand two floors: a handler that verifies
// the signature, and one that also makes one insert and one commit.
func BenchmarkCallback(b *testing.B) {
	durably(b, func(b *testing.B, url string) {
		for _, t := range targets(b, url) {
			b.Run(t.name, func(b *testing.B) {
				p := newPoster(b, t)
				posts := p.prepare(b.N)
				cpu := testkit.CPUTime(b)
				b.ResetTimer()
				duration := p.backlog(b, posts)
				b.StopTimer()
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "msg/s")
				b.ReportMetric(float64((testkit.CPUTime(b)-cpu).Nanoseconds())/1e3/float64(b.N), "cpu-µs/msg")
				b.ReportMetric(float64(p99(duration))/1e6, "p99-ms")
				b.ReportMetric(float64(duration[len(duration)-1])/1e6, "max-ms") // networks give up on who is slow
			})
		}
	})
}

// BenchmarkCallbackLatency posts at a quarter of the rate that the server
// takes once it is warm, evenly and for five seconds each, to the server and to
// the floor with one insert.
func BenchmarkCallbackLatency(b *testing.B) {
	durably(b, func(b *testing.B, url string) {
		ts := targets(b, url)
		floor, ours := newPoster(b, ts[1]), newPoster(b, ts[2])
		warm, paced := 1, time.Duration(0)
		if b.N > 1 { // else it is only to be seen that it works
			warm, paced = 5000, 5*time.Second
		}
		ours.backlog(b, ours.prepare(warm))
		floor.backlog(b, floor.prepare(warm))
		posts, began := ours.prepare(warm), time.Now()
		ours.backlog(b, posts)
		every := 4 * time.Since(began) / time.Duration(warm)
		n := int(paced/every) + 1
		b.ResetTimer()
		floorP99 := p99(floor.rate(b, floor.prepare(n), every))
		oursP99 := p99(ours.rate(b, ours.prepare(n), every))
		b.ReportMetric(float64(time.Second/every), "posts/s")
		b.ReportMetric(float64(floorP99)/1e6, "floor-p99-ms")
		b.ReportMetric(float64(oursP99)/1e6, "p99-ms")
		b.ReportMetric(float64(oursP99)/float64(floorP99), "p99/floor")
	})
}

// target is what a benchmark posts to.
type target struct {
	name, phone string
	http.Handler
}

// targets are the floors and the server on one database; the server also with
// a webhook that every message goes to.
func targets(b *testing.B, url string) []target {
	s := benchServer(b, url)
	sink := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
	b.Cleanup(sink.Close)
	const quiet, busy = "106540352242922", "106540352242923"
	benchReference(b, s, quiet)
	ref := benchReference(b, s, busy)
	_, _, err := s.Webhooks.For(benchAccount).Put(b.Context(), webhook.Settings{Scope: strconv.FormatInt(int64(ref), 10), URL: sink.URL})
	require.NoError(b, err)
	return []target{
		{"verify", quiet, floorHandler(nil)},
		{"insert", quiet, floorHandler(floorTable(b, url))},
		{"trunkline", quiet, s},
		{"trunkline-delivering", busy, s},
	}
}

// floorTable is a table for one plain insert per message, with as many
// connections as the server has; SQLite's one writer gets one.
func floorTable(b *testing.B, url string) *sqlx.DB {
	db := testkit.Open(b, url)
	if db.DriverName() == "sqlite" {
		db.SetMaxOpenConns(1)
	}
	db.MustExec(`CREATE TABLE IF NOT EXISTS floor (id TEXT PRIMARY KEY, body TEXT NOT NULL)`)
	return db
}

var floorID atomic.Int64

func floorHandler(db *sqlx.DB) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || !graph.Verify(benchSecret, r.Header, body) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if db == nil {
			return
		}
		id := fmt.Sprint(floorID.Add(1))
		if _, err := db.ExecContext(r.Context(), `INSERT INTO floor (id, body) VALUES ($1, $2)`, id, string(body)); err != nil {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
}

const benchAccount = "bench"

// benchServer is a running server.
func benchServer(b *testing.B, url string, change ...func(*server.Config)) *server.Server {
	c := server.Config{
		DB: testkit.Open(b, url), Secrets: []server.Secret{benchSecret}, Exclusive: true, WebhookAllow: []string{"127.0.0.1"},
		Logger: slog.New(slog.DiscardHandler),
	}
	for _, fn := range change {
		fn(&c)
	}
	s, err := server.New(b.Context(), c)
	require.NoError(b, err)
	done := make(chan error, 1)
	ctx, stop := context.WithCancel(context.WithoutCancel(b.Context()))
	go func() { done <- s.Run(ctx) }()
	b.Cleanup(func() {
		stop()
		require.NoError(b, <-done)
	})
	return s
}

func benchReference(b *testing.B, s *server.Server, phone string) provider.ReferenceID {
	ref, err := s.Messaging.For(benchAccount).References().Create(b.Context(), messaging.NewReference{
		Name: "bench", Type: cloud.Kind, Settings: map[string]string{
			"phoneNumberId": phone, "businessAccountId": "102290129340398",
			"accessToken": "token", "appSecret": benchSecret, "verifyToken": "verify",
		},
	})
	require.NoError(b, err)
	return ref.ID
}

// poster posts callbacks as Meta does.
type poster struct {
	url, phone string
	client     *http.Client
}

func newPoster(b *testing.B, t target) *poster {
	srv := httptest.NewServer(t)
	p := &poster{url: srv.URL + "/webhooks/provider", phone: t.phone, client: &http.Client{
		Transport: &http.Transport{MaxIdleConnsPerHost: posters}, Timeout: time.Minute,
	}}
	b.Cleanup(func() {
		p.client.CloseIdleConnections()
		srv.Close()
	})
	return p
}

type signed struct {
	body      []byte
	signature string
}

var messageID atomic.Int64

// prepare makes n signed bodies, so that the clock does not see it.
func (p *poster) prepare(n int) []signed {
	out := make([]signed, n)
	for i := range out {
		id := messageID.Add(1)
		body := fmt.Appendf(nil, `{"object":"whatsapp_business_account","entry":[{"id":"102290129340398","changes":[{"value":{`+
			`"messaging_product":"whatsapp","metadata":{"display_phone_number":"15550783881","phone_number_id":"%s"},`+
			`"contacts":[{"profile":{"name":"Sheena Nelson"},"wa_id":"1650555%04d"}],"messages":[{"from":"1650555%04d",`+
			`"id":"wamid.bench%d","timestamp":"%d","type":"text","text":{"body":"Does it come in another color?"}}]},"field":"messages"}]}]}`,
			p.phone, id%chats, id%chats, id, time.Now().Unix())
		out[i] = sign(body)
	}
	return out
}

func sign(body []byte) signed {
	mac := hmac.New(sha256.New, []byte(benchSecret))
	mac.Write(body)
	return signed{body, "sha256=" + hex.EncodeToString(mac.Sum(nil))}
}

func (p *poster) post(b *testing.B, c signed) {
	req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, p.url, bytes.NewReader(c.body))
	if err != nil {
		b.Error(err)
		return
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Hub-Signature-256", c.signature)
	res, err := p.client.Do(req)
	if err != nil {
		b.Error(err)
		return
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil || res.StatusCode != http.StatusOK {
		b.Errorf("status %d, %v", res.StatusCode, err)
	}
}

// backlog posts as fast as the server answers, and returns how long each answer
// took.
func (p *poster) backlog(b *testing.B, posts []signed) []time.Duration {
	duration := make([]time.Duration, len(posts))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range posters {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(posts) || b.Failed() {
					return
				}
				began := time.Now()
				p.post(b, posts[i])
				duration[i] = time.Since(began)
			}
		})
	}
	wg.Wait()
	return duration
}

// rate posts one every so often, late answers or not, and returns how long
// each took from the moment at which it was due.
func (p *poster) rate(b *testing.B, posts []signed, every time.Duration) []time.Duration {
	duration := make([]time.Duration, len(posts))
	var wg sync.WaitGroup
	began := time.Now()
	for i, c := range posts {
		due := began.Add(time.Duration(i) * every)
		<-time.After(time.Until(due))
		wg.Go(func() {
			p.post(b, c)
			duration[i] = time.Since(due)
		})
	}
	wg.Wait()
	return duration
}

// p99 sorts what it is given.
func p99(duration []time.Duration) time.Duration {
	slices.SortFunc(duration, cmp.Compare[time.Duration])
	return duration[len(duration)*99/100]
}
