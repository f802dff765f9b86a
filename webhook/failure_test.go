package webhook_test

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
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
		f.until(t, func() bool {
			got, err := f.Endpoint(t.Context(), ep.ID)
			require.NoError(t, err)
			return got.LastError == ""
		})
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
		f.until(t, func() bool { return disabled.Load() == 1 })
		got, err := f.Endpoint(t.Context(), ep.ID)
		require.NoError(t, err)
		require.False(t, got.Enabled)
		require.Equal(t, webhook.StateDisabled, got.State)
		require.Contains(t, got.LastError, "410")
		f.until(t, func() bool { return outcomes(t, f, "failed") == n })
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

// TestResume changes a paused endpoint, which is then tried at once. An attempt
// that began before fails after it, and does not pause the endpoint again.
func TestResume(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		var resumed atomic.Bool
		hang, completed := make(chan struct{}), make(chan struct{})
		hung, complete := sync.OnceFunc(func() { close(hang) }), sync.OnceFunc(func() { close(completed) })
		t.Cleanup(hung)
		t.Cleanup(complete)
		rec := receive(t, func(n int, _ request, w http.ResponseWriter) {
			switch {
			case n == 1:
				<-hang
			case resumed.Load(): // a success would make the late failure look like a first one
				<-completed
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
					complete()
				}
			},
		}})
		ep := f.put(t, rec.URL)
		for k := range 6 {
			f.publish(t, event(fmt.Sprint("key", k), 1))
		}
		f.until(t, func() bool {
			got, err := f.Endpoint(t.Context(), ep.ID)
			require.NoError(t, err)
			return got.State == webhook.StatePaused
		})
		resumed.Store(true)
		_, err := f.Update(t.Context(), ep.ID, webhook.Change{RotateSecret: true})
		require.NoError(t, err)
		hung()
		f.until(t, func() bool { return outcomes(t, f, "delivered") == 6 })
		got, err := f.Endpoint(t.Context(), ep.ID)
		require.NoError(t, err)
		require.Equal(t, webhook.StateOK, got.State)
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
		allow := []string{"127.0.0.1", "localhost:1"}
		hasty, patient := setup(t, db, webhook.Options{Timeout: 50 * time.Millisecond, Allow: allow}), setup(t, db, webhook.Options{Allow: allow})
		for url, text := range map[string]string{
			hanging.URL:                        "no answer within 50ms",
			cut.URL:                            "closed without an answer",
			"http://" + testkit.FreeAddress(t): "the connection was refused",
			"http://localhost:1/x":             "the connection was refused",
		} {
			f := patient
			if url == hanging.URL {
				f = hasty
			}
			ep := f.put(t, url+"?token=secret")
			a, err := f.Test(t.Context(), ep.ID, event("k", 1))
			require.NoError(t, err)
			require.Zero(t, a.StatusCode)
			require.Contains(t, a.Error, text)
			require.NotContains(t, a.Error, "token")
			require.NotRegexp(t, `dial|lookup|127\.0\.0\.1|:\d`, a.Error)
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
