package server_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider/cloud"
	"github.com/trunklinehq/trunkline/provider/graph"
	"github.com/trunklinehq/trunkline/server"
)

// The numbers that hostile bodies name, by how many strangers claim them.
const (
	owned    = "106540352242930"
	squatted = "106540352242931"
)

// BenchmarkHostileCallback posts bodies that nobody here signed, each from
// another address. The floor reads the dearest of them and makes one HMAC.
func BenchmarkHostileCallback(b *testing.B) {
	durably(b, func(b *testing.B, url string) {
		s := benchServer(b, url)
		benchReference(b, s, owned)
		squatting(b, s, squatted, 1000)
		b.Run("floor", func(b *testing.B) { hostile(b, floorHandler(nil), foreignBody("x", 4<<20)) })
		for _, c := range hostileBodies() {
			b.Run(c.name, func(b *testing.B) { hostile(b, s, c.body) })
		}
	})
}

// BenchmarkBesideHostileCallbacks posts signed callbacks of one tenant evenly,
// alone, then while an attacker posts the dearest bodies that nobody signed as
// fast as it is answered, and alone again: what drifts meanwhile counts on both
// sides. Each forged body comes from another address, so none is refused unread,
// as the addresses of a botnet would not be.
func BenchmarkBesideHostileCallbacks(b *testing.B) {
	durably(b, func(b *testing.B, url string) {
		s := benchServer(b, url, func(c *server.Config) { c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} })
		benchReference(b, s, owned)
		squatting(b, s, squatted, 1000)
		tenant := newPoster(b, target{"trunkline", owned, s})
		n, every := 1, 10*time.Millisecond
		if b.N > 1 { // else it is only to be seen that it works
			n = 1000
		}
		tenant.backlog(b, tenant.prepare(n))
		b.ResetTimer()
		alone := tenant.rate(b, tenant.prepare(n), every)
		stop := forging(b, tenant)
		attacked := p95(tenant.rate(b, tenant.prepare(n), every))
		posted := stop()
		quiet := p95(append(alone, tenant.rate(b, tenant.prepare(n), every)...))
		b.ReportMetric(float64(quiet)/1e6, "p95-quiet-ms")
		b.ReportMetric(float64(attacked)/1e6, "p95-attacked-ms")
		b.ReportMetric(float64(attacked)/float64(quiet), "ratio")
		b.ReportMetric(float64(posted), "forged")
	})
}

// forging posts hostile bodies one after another until stop is called, which
// says how many were answered.
func forging(b *testing.B, to *poster) (stop func() int) {
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan int, 1)
	go func() {
		bodies, at := hostileBodies(), 0
		signature := graph.Sign("nobody's secret", nil)
		for ; ; at++ {
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, to.url, bytes.NewReader(bodies[at%len(bodies)].body))
			if err != nil {
				break
			}
			req.Header.Set(graph.SignatureHeader, signature)
			req.Header.Set("X-Forwarded-For", fmt.Sprintf("10.%d.%d.%d", at>>16&255, at>>8&255, at&255))
			res, err := to.client.Do(req)
			if err != nil {
				break
			}
			_, _ = io.Copy(io.Discard, res.Body)
			_ = res.Body.Close()
		}
		done <- at
	}()
	return func() int {
		cancel()
		return <-done
	}
}

// p95 sorts what it is given.
func p95(duration []time.Duration) time.Duration {
	slices.Sort(duration)
	return duration[len(duration)*95/100]
}

// squatting has strangers claim a number, ten times each, with secrets of
// their own.
func squatting(b *testing.B, s *server.Server, phone string, n int) {
	b.Helper()
	for i := range n {
		_, err := s.Messaging.For(fmt.Sprint("stranger ", i/10)).References().Create(b.Context(), messaging.NewReference{
			Name: "squat", Type: cloud.Kind, Settings: map[string]string{
				"phoneNumberId": phone, "businessAccountId": "102290129340398",
				"accessToken": "token", "appSecret": fmt.Sprint("a secret of a stranger's ", i), "verifyToken": "verify",
			},
		})
		require.NoError(b, err)
	}
}

// hostile posts a body with a signature that fits nothing.
func hostile(b *testing.B, h http.Handler, body []byte) {
	signature := graph.Sign("nobody's secret", body)
	cpu, at := testkit.CPUTime(b), 0
	for b.Loop() {
		at++
		r := httptest.NewRequestWithContext(b.Context(), http.MethodPost, "/webhooks/provider", bytes.NewReader(body))
		r.RemoteAddr = fmt.Sprintf("10.%d.%d.%d:1", at>>16&255, at>>8&255, at&255)
		r.Header.Set(graph.SignatureHeader, signature)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		_, _ = io.Copy(io.Discard, w.Body)
		if w.Code < 400 && !bytes.Contains(body, []byte("instagram")) {
			b.Fatal(w.Code)
		}
	}
	b.ReportMetric(float64((testkit.CPUTime(b)-cpu).Nanoseconds())/1e6/float64(b.N), "cpu-ms/body")
}

// hostileBodies are what costs the most for each byte.
func hostileBodies() []struct {
	name string
	body []byte
} {
	changes := func(n int, phone func(i int) string) string {
		all := make([]string, n)
		for i := range all {
			all[i] = `{"field":"messages","value":{"metadata":{"phone_number_id":"` + phone(i) + `"}}}`
		}
		return strings.Join(all, ",")
	}
	one := func(phone string) func(int) string { return func(int) string { return phone } }
	unknown := func(i int) string { return fmt.Sprint(7_000_000_000_000 + i) }
	of := func(changes, more string) []byte {
		return []byte(`{"object":"whatsapp_business_account","entry":[{"id":"102290129340398","changes":[` + changes + `]}]` + more + `}`)
	}
	pad := func(item string, size int) string {
		return `,"pad":[` + strings.Repeat(item+",", size/(len(item)+1)) + `0]`
	}
	last := append(append([]byte(`{"entry":[{"id":"1"}]`), pad(`{"":0}`, 4<<20-200)...), `,"object":"whatsapp_business_account"}`...)
	return []struct {
		name string
		body []byte
	}{
		{"4 MB to a squatted number", of(changes(1, one(squatted)), `,"pad":"`+strings.Repeat("x", 4<<20-300)+`"`)},
		{"1 MB naming a number 6000 times", of(changes(6000, one(squatted)), pad("7", 1<<19))},
		{"1 MB naming 10000 unknown numbers", of(changes(10_000, unknown), "")},
		{"4 MB naming 1000 unknown numbers", of(changes(1000, unknown), pad(`{"":0}`, 4<<20-90_000))},
		{"4 MB of names to an owned number", of(changes(1, one(owned)), pad(`{"":0}`, 4<<20-300))},
		{"4 MB of brackets to a squatted number", of(changes(1, one(squatted)), pad(`[[[]]]`, 4<<20-300))},
		{"4 MB of ids", of(changes(1, one(squatted)), pad(`{"id":7}`, 4<<20-300))},
		{"4 MB with the object last", last},
		{"4 MB of escaped names", of(changes(1, one(squatted)), pad(`{"\u0069d":0}`, 4<<20-300))},
		{"4 MB of a page", []byte(`{"object":"page","entry":[` + strings.Repeat(`{"id":"7"},`, 4<<20/11-10) + `{}]}`)},
		{"4 MB of Instagram's", []byte(`{"object":"instagram","entry":[` + strings.Repeat(`{"":0},`, (4<<20-200)/7) + `0]}`)},
	}
}

// foreignBody is a body of another product's.
func foreignBody(item string, size int) []byte {
	return []byte(`{"object":"instagram","entry":["` + strings.Repeat(strings.ReplaceAll(item, `"`, `\"`), size/(len(item)+2)) + `"]}`)
}
