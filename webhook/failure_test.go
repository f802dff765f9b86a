package webhook_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/webhook"
)

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
		for i, wait := range []time.Duration{40 * time.Millisecond, 80 * time.Millisecond, 160 * time.Millisecond} {
			require.Greater(t, first[i+1].at.Sub(first[i].at), wait)
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

// TestSchedule walks through the usual retries of a refused event. The waits
// are the database's; the test cuts them short once it has read them.
func TestSchedule(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		rec := receive(t, func(_ int, _ request, w http.ResponseWriter) { w.WriteHeader(http.StatusForbidden) })
		f := running(t, db, webhook.Options{})
		f.put(t, rec.URL)
		f.publish(t, event("k", 1))
		for i, wait := range []time.Duration{
			time.Second, 5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute,
			2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
		} {
			var d webhook.Delivery
			eventually(t, func() bool {
				ds, _, err := f.Deliveries(t.Context(), webhook.DeliveryFilter{Scope: scope, State: "pending"})
				require.NoError(t, err)
				if len(ds) == 1 {
					d = ds[0]
				}
				return len(d.Attempts) == i+1 && d.NextAttemptAt.After(d.Attempts[i].At)
			})
			planned := d.NextAttemptAt.Sub(d.Attempts[i].At)
			require.InDelta(t, wait, planned, float64(wait)*0.2+float64(2*time.Second))
			db.MustExec(`UPDATE lane_lane SET ready_us = 1 WHERE ready_us IS NOT NULL AND holder = ''`)
			f.Committed()
		}
		eventually(t, func() bool { return outcomes(t, f, "dead") == 1 })
		require.Len(t, rec.all(), 13)
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

// TestResume changes a paused endpoint, which is then tried at once. An attempt
// that began before fails after it, and does not pause the endpoint again.
func TestResume(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		var resumed atomic.Bool
		hang, settled := make(chan struct{}), make(chan struct{})
		hung, settle := sync.OnceFunc(func() { close(hang) }), sync.OnceFunc(func() { close(settled) })
		t.Cleanup(hung)
		t.Cleanup(settle)
		rec := receive(t, func(n int, _ request, w http.ResponseWriter) {
			switch {
			case n == 1:
				<-hang
			case resumed.Load(): // a success would make the late failure look like a first one
				<-settled
				return
			}
			w.WriteHeader(http.StatusBadGateway)
		})
		policy := fast
		policy.Retries = slices.Repeat([]time.Duration{time.Millisecond}, 50)
		policy.ProbeFirst, policy.ProbeLast = time.Hour, time.Hour
		f := running(t, db, webhook.Options{Policy: policy, Observer: &webhook.Observer{
			Attempted: func(string, time.Duration) {
				if resumed.Load() {
					settle()
				}
			},
		}})
		ep := f.put(t, rec.URL)
		for k := range 6 {
			f.publish(t, event(fmt.Sprint("key", k), 1))
		}
		eventually(t, func() bool {
			got, err := f.Endpoint(t.Context(), ep.ID)
			require.NoError(t, err)
			return got.State == webhook.StatePaused
		})
		resumed.Store(true)
		_, err := f.Update(t.Context(), ep.ID, webhook.Changes{RotateSecret: true})
		require.NoError(t, err)
		hung()
		eventually(t, func() bool { return outcomes(t, f, "delivered") == 6 })
		got, err := f.Endpoint(t.Context(), ep.ID)
		require.NoError(t, err)
		require.Equal(t, webhook.StateOK, got.State)
	})
}

// TestGiveUp moves the clock: an endpoint that was down for five days is
// disabled, and what waited for it is over.
func TestGiveUp(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		var ahead atomic.Int64
		rec := receive(t, func(_ int, _ request, w http.ResponseWriter) { w.WriteHeader(http.StatusInternalServerError) })
		var disabled atomic.Int64
		f := running(t, db, webhook.Options{
			Policy: fast, Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) },
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
		ahead.Add(int64(4*24*time.Hour + 23*time.Hour))
		n := len(rec.all())
		rec.wait(t, n+3)
		require.Zero(t, disabled.Load())
		ahead.Add(int64(2 * time.Hour))
		eventually(t, func() bool { return disabled.Load() == 1 })
		eventually(t, func() bool { return outcomes(t, f, "failed") == 8 })
		got, err := f.Endpoint(t.Context(), ep.ID)
		require.NoError(t, err)
		require.Equal(t, webhook.StateDisabled, got.State)
		require.Contains(t, got.LastError, "down")
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
