package webhook_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/webhook"
)

// TestRequest pins what a receiver gets, byte for byte.
func TestRequest(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		rec := receive(t, nil)
		at := time.Unix(1_767_225_600, 0)
		f := running(t, db, webhook.Options{Now: func() time.Time { return at }})
		secret := secretOf(32)
		_, _, err := f.Put(t.Context(), webhook.Settings{
			Scope: scope, URL: rec.URL + "/in?tenant=1", Secret: secret,
			Headers: []webhook.Header{
				{Key: "Authorization", Value: "Bearer t"},
				{Key: "X-Twice", Value: "a"},
				{Key: "x-twice", Value: "b"},
				{Key: "Content-Type", Value: "text/plain"},
			},
		})
		require.NoError(t, err)
		for i, kind := range []string{"message", "status", "data", "calls", "subscription"} {
			f.publish(t, webhook.Event{
				ID: fmt.Sprintf("evt-%d", i+1), Account: account, Scope: scope, Type: kind, Key: "chat",
				Headers: map[string]string{"X-Trunkline-Reference": "7"},
				Body:    []byte(`{"b":1.50, "a":"é \u0000 <>&"}` + "\n"),
			})
			rec.wait(t, i+1)
		}
		var b strings.Builder
		wh, err := standardwebhooks.NewWebhook(secret)
		require.NoError(t, err)
		for _, r := range rec.all() {
			require.NoError(t, wh.VerifyIgnoringTimestamp([]byte(r.body), r.header))
			require.NoError(t, webhook.Verify(secret, r.header, []byte(r.body), at))
			b.WriteString(r.String())
		}
		golden(t, "requests.txt", b.String())
	})
}

// String is the request as text, headers in order of their names.
func (r request) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n", r.method, r.path)
	var names []string
	for n := range r.header {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		for _, v := range r.header[n] {
			fmt.Fprintf(&b, "%s: %s\n", n, v)
		}
	}
	return b.String() + "\n" + r.body + "\n"
}

func TestFilter(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		rec := receive(t, nil)
		f := running(t, db, webhook.Options{})
		off := false
		put := func(path string, s webhook.Settings) webhook.Endpoint {
			s.URL = rec.URL + path
			if s.Scope == "" {
				s.Scope = scope
			}
			ep, _, err := f.Put(t.Context(), s)
			require.NoError(t, err)
			return ep
		}
		put("/all", webhook.Settings{})
		put("/session", webhook.Settings{Events: []string{"session"}})
		put("/extracted", webhook.Settings{Include: []string{"extracted"}, Events: []string{"message"}})
		put("/other", webhook.Settings{Scope: "8"})
		gone := put("/off", webhook.Settings{})
		_, err := f.Update(t.Context(), gone.ID, webhook.Change{Enabled: &off})
		require.NoError(t, err)
		_, _, err = f.For("stranger").Put(t.Context(), webhook.Settings{Scope: scope, URL: rec.URL + "/stranger"})
		require.NoError(t, err)

		send := func(kind, audience, body string) {
			f.publish(t, webhook.Event{Account: account, Scope: scope, Type: kind, Audience: audience, Key: "k", Body: []byte(body)})
		}
		send("message", "", "m1")
		send("message", "!extracted", "m2")
		send("message", "extracted", "m2+")
		send("session", "", "s1")
		send("status", "", "t1")
		f.publish(t, webhook.Event{Account: account, Scope: "nobody", Type: "message", Key: "k", Body: []byte("x")})
		send("calls", "", "end")
		send("session", "", "end")
		send("message", "extracted", "end")
		rec.until(t, func() bool {
			ends := 0
			for _, r := range rec.all() {
				if r.body == "end" {
					ends++
				}
			}
			return ends == 3
		})
		got := map[string][]string{}
		for _, r := range rec.all() {
			got[r.path] = append(got[r.path], r.body)
		}
		require.Equal(t, map[string][]string{
			"/all":       {"m1", "m2", "t1", "end"},
			"/session":   {"s1", "end"},
			"/extracted": {"m1", "m2+", "end"},
		}, got)

		t.Run("what nobody wants is forgotten", func(t *testing.T) {
			var n int
			require.NoError(t, db.Get(&n, `SELECT count(*) FROM webhook_event WHERE scope = 'nobody'`))
			require.Zero(t, n)
		})
	})
}

// TestRollback checks that an event is delivered if and only if its
// transaction commits.
func TestRollback(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		rec := receive(t, nil)
		f := running(t, db, webhook.Options{})
		f.put(t, rec.URL)
		stop := fmt.Errorf("stop")
		require.ErrorIs(t, f.db.InTx(t.Context(), func(tx *database.Tx) error {
			require.NoError(t, f.PublishTx(t.Context(), tx, event("k", 1)))
			return stop
		}), stop)
		f.publish(t, event("k", 2))
		require.Equal(t, `{"key":"k","n":2}`, rec.wait(t, 1)[0].body)
		require.Equal(t, "1", rec.all()[0].header.Get("X-Trunkline-Sequence"))
	})
}

func TestPublishRefuses(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, webhook.Options{})
		for name, change := range map[string]func(*webhook.Event){
			"type":         func(e *webhook.Event) { e.Type = "messages" },
			"id":           func(e *webhook.Event) { e.ID = "a.b" },
			"long id":      func(e *webhook.Event) { e.ID = strings.Repeat("x", 65) },
			"NUL":          func(e *webhook.Event) { e.Body = []byte("a\x00") },
			"no UTF-8":     func(e *webhook.Event) { e.Body = []byte("\xff") },
			"header name":  func(e *webhook.Event) { e.Headers = map[string]string{"a b": ""} },
			"header value": func(e *webhook.Event) { e.Headers = map[string]string{"A": "\n"} },
		} {
			ev := event("k", 1)
			change(&ev)
			err := f.db.InTx(t.Context(), func(tx *database.Tx) error { return f.PublishTx(t.Context(), tx, event("k", 1), ev) })
			require.Error(t, err, name)
		}
		require.NoError(t, f.db.InTx(t.Context(), func(tx *database.Tx) error { return f.PublishTx(t.Context(), tx) }))
	})
}

// TestIsolation hangs one endpoint; another gets everything meanwhile.
func TestIsolation(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		const n = 200
		hang := make(chan struct{})
		release := sync.OnceFunc(func() { close(hang) })
		hanging := receive(t, func(int, request, http.ResponseWriter) { <-hang })
		t.Cleanup(release) // before the receiver closes
		healthy := receive(t, nil)
		// Nobody takes a machine that stands still for dead, and repeats what hangs.
		f := running(t, db, webhook.Options{Cap: 4, Timeout: 10 * time.Minute, Exclusive: true})
		f.put(t, hanging.URL)
		f.put(t, healthy.URL)
		for i := range n {
			f.publish(t, event(fmt.Sprint("key", i%50), i))
		}
		healthy.wait(t, n)
		require.LessOrEqual(t, len(hanging.all()), 4)
		release()
		hanging.wait(t, n)
	})
}

// TestRotation signs with both secrets for a day.
func TestRotation(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		var clock atomic.Int64
		clock.Store(time.Now().UnixMicro())
		now := func() time.Time { return time.UnixMicro(clock.Load()) }
		rec := receive(t, nil)
		f := running(t, db, webhook.Options{Now: now})
		ep := f.put(t, rec.URL)
		changed, err := f.Update(t.Context(), ep.ID, webhook.Change{RotateSecret: true})
		require.NoError(t, err)
		verify := func(n int, secret string) error {
			f.publish(t, event("k", n))
			r := rec.wait(t, n)[n-1]
			return webhook.Verify(secret, r.header, []byte(r.body), now())
		}
		require.NoError(t, verify(1, ep.Secret))
		require.NoError(t, verify(2, changed.Secret))
		require.Len(t, strings.Fields(rec.all()[1].header.Get("Webhook-Signature")), 2)
		f.until(t, func() bool { return outcomes(t, f, "delivered") == 2 }) // no lease is held when the clock leaps
		clock.Add((24 * time.Hour).Microseconds())
		require.ErrorIs(t, verify(3, ep.Secret), webhook.ErrSignature)
		require.NoError(t, verify(4, changed.Secret))

		given, _, err := f.Put(t.Context(), webhook.Settings{Scope: scope, URL: rec.URL, Secret: secretOf(24)})
		require.NoError(t, err)
		require.Empty(t, given.Secret)
		require.NoError(t, verify(5, secretOf(24)))
		require.NoError(t, verify(6, changed.Secret))
	})
}

// TestRestart stops a dispatcher with work left; another one finishes it.
func TestRestart(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		const n = 60
		var up atomic.Bool
		rec := receive(t, func(i int, _ request, w http.ResponseWriter) {
			if !up.Load() && i > 10 {
				w.WriteHeader(http.StatusConflict)
			}
		})
		policy := fast
		policy.Retries = slices.Repeat([]time.Duration{20 * time.Millisecond}, 500)
		first := running(t, db, webhook.Options{Policy: policy})
		first.put(t, rec.URL)
		for i := range n {
			first.publish(t, event(fmt.Sprint("key", i%6), i))
		}
		rec.wait(t, 15)
		first.stop()
		require.Less(t, outcomes(t, first, "delivered"), n)
		up.Store(true)
		second := running(t, db, webhook.Options{Policy: policy})
		second.until(t, func() bool { return outcomes(t, second, "delivered") == n })
		ids := map[string]bool{}
		for _, r := range rec.all() {
			ids[r.header.Get("Webhook-Id")] = true
		}
		require.Len(t, ids, n)
	})
}

func TestDeletedEndpointGetsNothing(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		rec, other := receive(t, nil), receive(t, nil)
		f := setup(t, db, webhook.Options{})
		ep := f.put(t, rec.URL)
		f.put(t, other.URL)
		f.publish(t, event("k", 1))
		require.NoError(t, f.Delete(t.Context(), ep.ID))
		f.start(t)
		other.wait(t, 1)
		require.Empty(t, rec.all())
	})
}

func TestTest(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		rec := receive(t, func(_ int, _ request, w http.ResponseWriter) {
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(strings.Repeat("no\xff\x00", 500)))
		})
		f := setup(t, db, webhook.Options{})
		ep := f.put(t, rec.URL)
		a, err := f.Test(t.Context(), ep.ID, event("k", 1))
		require.NoError(t, err)
		require.Equal(t, http.StatusNotFound, a.StatusCode)
		require.Equal(t, "answered 404 Not Found", a.Error)
		require.True(t, strings.HasPrefix(a.Response, "no\uFFFDno"))
		require.Positive(t, a.Duration)
		require.WithinDuration(t, time.Now(), a.At, patient)
		r := rec.all()[0]
		require.Equal(t, "0", r.header.Get("X-Trunkline-Sequence"))
		require.Equal(t, "message", r.header.Get("X-Trunkline-Event"))
		require.NoError(t, webhook.Verify(ep.Secret, r.header, []byte(r.body), time.Now()))
		require.Equal(t, 1, outcomes(t, f, "failed"))
	})
}

func TestEcho(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		var echo webhook.Echo
		f := running(t, db, webhook.Options{Echo: &echo})
		ep, _, err := f.Put(t.Context(), webhook.Settings{
			Scope: scope, URL: webhook.EchoURL, Headers: []webhook.Header{{Key: "X-Token", Value: "secret"}},
		})
		require.NoError(t, err)
		for i := range 105 {
			f.publish(t, event("k", i+1))
		}
		f.until(t, func() bool { return outcomes(t, f, "delivered") == 105 })
		last := echo.Last(scope)
		require.Len(t, last, 100)
		require.JSONEq(t, `{"key":"k","n":105}`, last[0].Body)
		require.JSONEq(t, `{"key":"k","n":6}`, last[99].Body)
		require.Contains(t, last[0].Headers, webhook.Header{Key: "X-Token", Value: webhook.Mask})
		require.Contains(t, last[0].Headers, webhook.Header{Key: "X-Trunkline-Sequence", Value: "105"})
		require.Empty(t, echo.Last("8"))
		a, err := f.Test(t.Context(), ep.ID, event("k", 106))
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, a.StatusCode)
		require.Equal(t, "received", a.Response)
	})
}

// TestAnsweredNotRecorded has a process die between the answer of a receiver and the
// commit that records it: the next one repeats the request once, under the same id.
func TestAnsweredNotRecorded(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		dying, asked := testkit.Counting(t, db)
		rec := receive(t, func(n int, _ request, _ http.ResponseWriter) {
			if n == 1 {
				asked.FailCommits("queue_partition") // it neither finishes nor begins anything any more
			}
		})
		quiet := slog.New(slog.DiscardHandler)
		first := setup(t, dying, webhook.Options{Exclusive: true, Logger: quiet})
		first.put(t, rec.URL)
		first.publish(t, event("chat", 1))
		first.start(t)
		t.Cleanup(func() { asked.FailCommits("") })
		rec.wait(t, 1)

		second := running(t, db, webhook.Options{Exclusive: true})
		second.publish(t, event("chat", 2))
		second.until(t, func() bool { return outcomes(t, second, "delivered") == 2 })
		got := rec.all()
		require.Len(t, got, 3)
		for i, n := range []int64{1, 1, 2} {
			require.Equal(t, n, got[i].seq())
		}
		require.Equal(t, got[0].header.Get("Webhook-Id"), got[1].header.Get("Webhook-Id"))
		require.Equal(t, got[0].body, got[1].body)
		var attempts int
		require.NoError(t, db.Get(&attempts, `SELECT count(*) FROM webhook_attempt`))
		require.Equal(t, 2, attempts)
	})
}
