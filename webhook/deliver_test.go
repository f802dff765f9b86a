package webhook_test

import (
	"fmt"
	"math/rand/v2"
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
		_, err := f.Update(t.Context(), gone.ID, webhook.Changes{Enabled: &off})
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
		eventually(t, func() bool {
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
		require.ErrorIs(t, f.db.InTx(t.Context(), func(tx *sqlx.Tx) error {
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
			err := f.db.InTx(t.Context(), func(tx *sqlx.Tx) error { return f.PublishTx(t.Context(), tx, event("k", 1), ev) })
			require.Error(t, err, name)
		}
		require.NoError(t, f.db.InTx(t.Context(), func(tx *sqlx.Tx) error { return f.PublishTx(t.Context(), tx) }))
	})
}

// TestOrder lets a receiver fail at random: every key arrives in order,
// without a gap, whatever is repeated.
func TestOrder(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		const keys, each = 20, 15
		var mu sync.Mutex
		taken := map[string][]string{}
		rec := receive(t, func(_ int, r request, w http.ResponseWriter) {
			if rand.IntN(4) == 0 {
				w.WriteHeader(400 + 100*rand.IntN(2))
				return
			}
			mu.Lock()
			defer mu.Unlock()
			k := r.body[:strings.Index(r.body, ",")]
			taken[k] = append(taken[k], r.header.Get("X-Trunkline-Sequence"))
		})
		policy := fast
		policy.Retries = slices.Repeat([]time.Duration{time.Millisecond}, 100)
		f := running(t, db, webhook.Options{Policy: policy})
		f.put(t, rec.URL)
		for n := range each {
			var evs []webhook.Event
			for k := range keys {
				evs = append(evs, event(fmt.Sprint("key", k), n))
			}
			f.publish(t, evs...)
		}
		eventually(t, func() bool {
			mu.Lock()
			defer mu.Unlock()
			n := 0
			for _, s := range taken {
				n += len(s)
			}
			return n >= keys*each
		})
		mu.Lock()
		defer mu.Unlock()
		want := make([]string, each)
		for i := range want {
			want[i] = fmt.Sprint(i + 1)
		}
		require.Len(t, taken, keys)
		for k, got := range taken {
			require.Equal(t, want, got, k)
		}
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
		f := running(t, db, webhook.Options{Cap: 4, Timeout: 50 * time.Second})
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

func TestRedirectIsNotFollowed(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		elsewhere := receive(t, nil)
		rec := receive(t, func(n int, _ request, w http.ResponseWriter) {
			if n < 3 {
				w.Header().Set("Location", elsewhere.URL)
				w.WriteHeader(http.StatusPermanentRedirect)
			}
		})
		f := running(t, db, webhook.Options{Policy: fast})
		ep := f.put(t, rec.URL)
		f.publish(t, event("k", 1))
		rec.wait(t, 3)
		require.Empty(t, elsewhere.all())
		eventually(t, func() bool {
			got, err := f.Endpoint(t.Context(), ep.ID)
			require.NoError(t, err)
			return got.LastError == ""
		})
	})
}

// TestRetries checks the waits between the attempts of a refused event, and
// that it is dead after the last.
func TestRetries(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		rec := receive(t, func(_ int, r request, w http.ResponseWriter) {
			if strings.Contains(r.body, `"n":1}`) {
				w.WriteHeader(http.StatusTeapot)
			}
		})
		var outcomes sync.Map
		f := running(t, db, webhook.Options{
			Policy: webhook.Policy{Retries: []time.Duration{50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond}},
			Observer: &webhook.Observer{Attempted: func(outcome string, took time.Duration) {
				n, _ := outcomes.LoadOrStore(outcome, new(atomic.Int64))
				n.(*atomic.Int64).Add(1)
				if took < 0 || took > patient {
					t.Errorf("took %s", took)
				}
			}},
		})
		ep := f.put(t, rec.URL)
		f.publish(t, event("k", 1), event("k", 2), event("other", 3))
		got := rec.wait(t, 6)
		var first []request
		for _, r := range got {
			if strings.Contains(r.body, `"n":1}`) {
				first = append(first, r)
			}
		}
		require.Len(t, first, 4)
		for i, wait := range []time.Duration{50, 100, 200} {
			require.Greater(t, first[i+1].at.Sub(first[i].at), wait*time.Millisecond*8/10)
			require.Equal(t, first[0].header.Get("Webhook-Id"), first[i+1].header.Get("Webhook-Id"))
			require.Equal(t, "1", first[i+1].header.Get("X-Trunkline-Sequence"))
		}
		require.Equal(t, "2", got[5].header.Get("X-Trunkline-Sequence")) // it waited
		require.Contains(t, got[5].body, `"n":2`)
		count := func(outcome string) int64 {
			n, ok := outcomes.Load(outcome)
			if !ok {
				return 0
			}
			return n.(*atomic.Int64).Load()
		}
		eventually(t, func() bool { return count("delivered") == 2 })
		require.EqualValues(t, 3, count("retried"))
		require.EqualValues(t, 1, count("dead"))
		now, err := f.Endpoint(t.Context(), ep.ID)
		require.NoError(t, err)
		require.Equal(t, webhook.StateOK, now.State)
	})
}

// TestHold lets what is behind a refused event pass when the next retry is
// further away than the hold; the refused one goes on alone.
func TestHold(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		var refuse atomic.Bool
		refuse.Store(true)
		rec := receive(t, func(_ int, r request, w http.ResponseWriter) {
			if strings.Contains(r.body, `"n":1}`) && refuse.Load() {
				w.WriteHeader(http.StatusBadRequest)
			}
		})
		f := running(t, db, webhook.Options{Policy: webhook.Policy{
			Retries: []time.Duration{10 * time.Millisecond, 10 * time.Millisecond, 500 * time.Millisecond, 500 * time.Millisecond},
			Hold:    100 * time.Millisecond,
		}})
		f.put(t, rec.URL)
		f.publish(t, event("k", 1), event("k", 2), event("k", 3))
		got := rec.wait(t, 5)
		refuse.Store(false)
		var seqs []string
		for _, r := range append(got[:5:5], rec.wait(t, 6)[5]) {
			seqs = append(seqs, r.header.Get("X-Trunkline-Sequence"))
		}
		require.Equal(t, []string{"1", "1", "1", "2", "3", "1"}, seqs)
	})
}

func TestGone(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		rec := receive(t, func(_ int, _ request, w http.ResponseWriter) { w.WriteHeader(http.StatusGone) })
		var disabled atomic.Int64
		f := running(t, db, webhook.Options{Cap: 1, Observer: &webhook.Observer{Disabled: func() { disabled.Add(1) }}})
		ep := f.put(t, rec.URL)
		const n = 100
		var evs []webhook.Event
		for i := range n {
			evs = append(evs, event(fmt.Sprint("key", i), i))
		}
		f.publish(t, evs...)
		eventually(t, func() bool { return disabled.Load() == 1 })
		got, err := f.Endpoint(t.Context(), ep.ID)
		require.NoError(t, err)
		require.False(t, got.Enabled)
		require.Equal(t, webhook.StateDisabled, got.State)
		require.Contains(t, got.LastError, "410")
		eventually(t, func() bool { return outcomes(t, f, "failed") == n })
		require.Less(t, len(rec.all()), n) // what was loaded before may still go out

		got, _, err = f.Put(t.Context(), webhook.Settings{Scope: scope, URL: rec.URL})
		require.NoError(t, err)
		require.Equal(t, webhook.StateOK, got.State)
		require.Empty(t, got.LastError)
	})
}

func outcomes(t *testing.T, f *fixture, outcome string) int {
	t.Helper()
	var n int
	require.NoError(t, f.raw.Get(&n, `SELECT count(*) FROM webhook_attempt WHERE outcome = $1`, outcome))
	return n
}

func TestRetryAfter(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := running(t, db, webhook.Options{Policy: fast})
		for name, c := range map[string]struct {
			status int
			value  func() string
		}{
			"seconds": {http.StatusTooManyRequests, func() string { return "1" }},
			"date":    {http.StatusServiceUnavailable, func() string { return time.Now().Add(2 * time.Second).UTC().Format(http.TimeFormat) }},
		} {
			t.Run(name, func(t *testing.T) {
				rec := receive(t, func(n int, _ request, w http.ResponseWriter) {
					if n == 1 {
						w.Header().Set("Retry-After", c.value())
						w.WriteHeader(c.status)
					}
				})
				ep := f.put(t, rec.URL)
				f.publish(t, event("k"+name, 1))
				got := rec.wait(t, 2)
				require.Greater(t, got[1].at.Sub(got[0].at), 900*time.Millisecond)
				require.NoError(t, f.Delete(t.Context(), ep.ID))
			})
		}
	})
}

// TestPause takes an endpoint down and up again: it is paused after five
// different events, loses no attempt and no order, and is probed.
func TestPause(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		const keys, each = 8, 4
		var down atomic.Bool
		down.Store(true)
		var mu sync.Mutex
		taken := map[string][]string{}
		probes := 0
		rec := receive(t, func(_ int, r request, w http.ResponseWriter) {
			mu.Lock()
			defer mu.Unlock()
			if down.Load() {
				probes++
				w.WriteHeader(http.StatusBadGateway)
				return
			}
			k := r.body[:strings.Index(r.body, ",")]
			taken[k] = append(taken[k], r.header.Get("X-Trunkline-Sequence"))
		})
		var paused atomic.Int64
		policy := fast
		policy.Retries = []time.Duration{20 * time.Millisecond, 20 * time.Millisecond} // few: a pause must not use them up
		f := running(t, db, webhook.Options{Policy: policy, Observer: &webhook.Observer{Paused: func() { paused.Add(1) }}})
		ep := f.put(t, rec.URL)
		for n := range each {
			for k := range keys {
				f.publish(t, event(fmt.Sprint("key", k), n))
			}
		}
		state := func() webhook.State {
			got, err := f.Endpoint(t.Context(), ep.ID)
			require.NoError(t, err)
			return got.State
		}
		eventually(t, func() bool { return state() == webhook.StatePaused })
		mu.Lock()
		before := probes
		mu.Unlock()
		eventually(t, func() bool {
			mu.Lock()
			defer mu.Unlock()
			return probes >= before+5
		})
		got, err := f.Endpoint(t.Context(), ep.ID)
		require.NoError(t, err)
		require.Contains(t, got.LastError, "502")
		down.Store(false)
		eventually(t, func() bool { return state() == webhook.StateOK })
		eventually(t, func() bool {
			mu.Lock()
			defer mu.Unlock()
			n := 0
			for _, s := range taken {
				n += len(s)
			}
			return n == keys*each
		})
		mu.Lock()
		defer mu.Unlock()
		for k, got := range taken {
			require.Equal(t, []string{"1", "2", "3", "4"}, got, k)
		}
		require.EqualValues(t, 1, paused.Load())
		require.Zero(t, outcomes(t, f, "dead"))
	})
}

// TestResume changes a paused endpoint, which is then tried at once.
func TestResume(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		var down atomic.Bool
		down.Store(true)
		rec := receive(t, func(_ int, _ request, w http.ResponseWriter) {
			if down.Load() {
				w.WriteHeader(http.StatusBadGateway)
			}
		})
		policy := fast
		policy.Retries = slices.Repeat([]time.Duration{time.Millisecond}, 50)
		policy.ProbeFirst, policy.ProbeLast = time.Hour, time.Hour
		f := running(t, db, webhook.Options{Policy: policy})
		ep := f.put(t, rec.URL)
		for k := range 6 {
			f.publish(t, event(fmt.Sprint("key", k), 1))
		}
		eventually(t, func() bool {
			got, err := f.Endpoint(t.Context(), ep.ID)
			require.NoError(t, err)
			return got.State == webhook.StatePaused
		})
		down.Store(false)
		_, err := f.Update(t.Context(), ep.ID, webhook.Changes{RotateSecret: true})
		require.NoError(t, err)
		eventually(t, func() bool { return outcomes(t, f, "delivered") == 6 })
	})
}

// TestGiveUp moves the clock: an endpoint that was down for five days is
// disabled, and what waited for it is over.
func TestGiveUp(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		var clock atomic.Int64
		clock.Store(time.Now().UnixMicro())
		rec := receive(t, func(_ int, _ request, w http.ResponseWriter) { w.WriteHeader(http.StatusInternalServerError) })
		var disabled atomic.Int64
		f := running(t, db, webhook.Options{
			Policy: fast, Now: func() time.Time { return time.UnixMicro(clock.Load()) },
			Observer: &webhook.Observer{Disabled: func() { disabled.Add(1) }},
		})
		ep := f.put(t, rec.URL)
		for k := range 8 {
			f.publish(t, event(fmt.Sprint("key", k), 1))
		}
		eventually(t, func() bool {
			got, err := f.Endpoint(t.Context(), ep.ID)
			require.NoError(t, err)
			return got.State == webhook.StatePaused
		})
		clock.Add((4*24*time.Hour + 23*time.Hour).Microseconds())
		n := len(rec.all())
		rec.wait(t, n+3)
		require.Zero(t, disabled.Load())
		clock.Add((2 * time.Hour).Microseconds())
		eventually(t, func() bool { return disabled.Load() == 1 })
		eventually(t, func() bool { return outcomes(t, f, "failed") == 8 })
		got, err := f.Endpoint(t.Context(), ep.ID)
		require.NoError(t, err)
		require.Equal(t, webhook.StateDisabled, got.State)
		require.Contains(t, got.LastError, "down")
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
		changed, err := f.Update(t.Context(), ep.ID, webhook.Changes{RotateSecret: true})
		require.NoError(t, err)
		verify := func(n int, secret string) error {
			f.publish(t, event("k", n))
			r := rec.wait(t, n)[n-1]
			return webhook.Verify(secret, r.header, []byte(r.body), now())
		}
		require.NoError(t, verify(1, ep.Secret))
		require.NoError(t, verify(2, changed.Secret))
		require.Len(t, strings.Fields(rec.all()[1].header.Get("Webhook-Signature")), 2)
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
		eventually(t, func() bool { return outcomes(t, second, "delivered") == n })
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

// TestFailureTexts checks what the log says of an endpoint that cannot be
// reached, and that it does not quote the URL.
func TestFailureTexts(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		hang := make(chan struct{})
		hanging := receive(t, func(int, request, http.ResponseWriter) { <-hang })
		t.Cleanup(func() { close(hang) })
		cut := receive(t, func(_ int, _ request, w http.ResponseWriter) {
			c, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				_ = c.Close()
			}
		})
		closed := receive(t, nil)
		closed.Close()
		f := setup(t, db, webhook.Options{Timeout: 50 * time.Millisecond, Allow: []string{"127.0.0.1", "localhost:1"}})
		for url, text := range map[string]string{
			hanging.URL:            "no answer within 50ms",
			cut.URL:                "closed without an answer",
			closed.URL:             "connection refused",
			"http://localhost:1/x": "connection refused",
		} {
			ep := f.put(t, url+"?token=secret")
			a, err := f.Test(t.Context(), ep.ID, event("k", 1))
			require.NoError(t, err)
			require.Zero(t, a.StatusCode)
			require.Contains(t, a.Error, text)
			require.NotContains(t, a.Error, "token")
		}
	})
}

// TestRefusedTarget registers an endpoint where that is allowed and delivers
// where it no longer is: the connection is what counts.
func TestRefusedTarget(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		rec := receive(t, nil)
		ep := setup(t, db, webhook.Options{}).put(t, rec.URL)
		f := running(t, db, webhook.Options{Allow: []string{"10.0.0.1"}})
		a, err := f.Test(t.Context(), ep.ID, event("k", 1))
		require.NoError(t, err)
		require.Contains(t, a.Error, "--webhook-allow")
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
		require.True(t, strings.HasPrefix(a.Response, "no��no"))
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
		eventually(t, func() bool { return outcomes(t, f, "delivered") == 105 })
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
