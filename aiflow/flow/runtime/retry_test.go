package runtime_test

import (
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
)

// TestRetry fails runs in the middle of a loop and has them continue there.
func TestRetry(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := running(t, db, nil)
		var broken atomic.Bool
		broken.Store(true)
		srv, got := server(t, func(w http.ResponseWriter, r *http.Request) {
			if broken.Load() && r.URL.Path == "/1" {
				w.WriteHeader(http.StatusInternalServerError)
			}
		})
		src := func(method string) runtime.Source {
			return nodes(t, `"out":{"type":"list"}`, `
				"first":{"type":"loop","config":{"kind":"count","times":"3","collect":{"var":"out","value":"index"}},"next":{"body":"say","done":"end"}},
				"say":{"type":"message","config":{"text":"Round {{ index }}"},"next":{"out":"fetch"}},
				"fetch":{"type":"http","config":{"method":"`+method+`","url":"`+srv.URL+`/{{ index }}"}},
				"end":{"type":"end","config":{"result":"{{ vars.out }}"}}`)
		}
		run := f.begin(t, "ana", src("GET"))
		require.Equal(t, runtime.Failed, run.Status, "%+v", run)
		require.Equal(t, "fetch", run.Error.Node)
		_, err := f.For("stranger").Retry(t.Context(), run.ID, false)
		require.ErrorIs(t, err, runtime.ErrNotFound)
		f.stop()
		f = f.successor(t, db, nil).start(t) // what it needs is stored

		other := f.begin(t, "ana", nodes(t, ``, `"first":{"type":"question","config":{"prompt":{"text":"Well?"}},"next":{"out":"end"}},"end":{"type":"end"}`))
		_, err = f.acc.Retry(t.Context(), run.ID, false)
		require.ErrorIs(t, err, runtime.ErrBusy)
		_, err = f.acc.Retry(t.Context(), other.ID, false)
		require.ErrorIs(t, err, runtime.ErrNotFailed)
		f.gives(t, runtime.Cancelled, func() (runtime.Run, error) { return f.acc.Cancel(t.Context(), other.ID, "") })

		retry := func(want runtime.Status, again bool) {
			run = f.gives(t, want, func() (runtime.Run, error) { return f.acc.Retry(t.Context(), run.ID, again) })
		}
		retry(runtime.Failed, false) // it is broken still
		broken.Store(false)
		retry(runtime.Completed, false)
		require.Nil(t, run.Error)
		require.JSONEq(t, `[0,1,2]`, string(run.Output))
		require.Equal(t, []string{"Round 0", "Round 1", "Well?", "Round 2"}, f.did(t, "ana"))
		f.once(t)
		d, err := f.acc.Detail(t.Context(), run.ID)
		require.NoError(t, err)
		var retried []int
		for _, s := range d.Steps {
			if s.Retry > 0 {
				require.Equal(t, "fetch", s.Node)
				retried = append(retried, s.Retry)
			}
		}
		require.Equal(t, []int{1, 2}, retried)
		_, err = f.acc.Retry(t.Context(), run.ID, false)
		require.ErrorIs(t, err, runtime.ErrNotFailed)

		broken.Store(true)
		run = f.begin(t, "ben", src("POST"))
		require.Equal(t, runtime.Failed, run.Status)
		before := len(got.all())
		_, err = f.acc.Retry(t.Context(), run.ID, false)
		require.ErrorIs(t, err, runtime.ErrRepeat)
		broken.Store(false)
		retry(runtime.Completed, true)
		all := got.all()
		require.Equal(t, all[before-1].Header.Get("Idempotency-Key"), all[before].Header.Get("Idempotency-Key"), "the server can tell that it is a repeat")
	})
}

// TestRetryTwiceAtOnce lets one of two callers retry.
func TestRetryTwiceAtOnce(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, nil)
		run := f.started(t, nodes(t, ``, `"first":{"type":"throw","config":{"code":"x"}}`))
		errs := make(chan error, 8)
		for range cap(errs) {
			go func() {
				_, err := f.acc.Retry(t.Context(), run.ID, false)
				errs <- err
			}()
		}
		won := false
		for late := 0; late < cap(errs)-1; {
			if err := <-errs; err != nil {
				require.ErrorIs(t, err, runtime.ErrNotFailed)
				late++
				continue
			}
			require.False(t, won)
			won = true // it waited ten seconds for the turn
		}
		f.start(t)
		if !won {
			require.NoError(t, <-errs)
		}
	})
}

// started starts a run without a chat on a runtime that runs just for that.
func (f *fixture) started(t testing.TB, src runtime.Source) runtime.Run {
	t.Helper()
	f.start(t)
	defer f.stop()
	return f.begin(t, "", src)
}

// TestBrokenConnection tells a request that must not be made twice, and may
// have been heard, from one that nobody heard.
func TestBrokenConnection(t *testing.T) {
	f := onSQLite(t, nil)
	srv, got := server(t, func(w http.ResponseWriter, _ *http.Request) {
		c, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_ = c.Close()
		}
	})
	_, code := f.fetched(t, `"method":"POST","url":"`+srv.URL+`","retry":{"max":2,"delay":"PT0.1S"}`)
	require.Equal(t, flow.CodeUnknown, code)
	require.Len(t, got.all(), 1)
	srv.Close()
	_, code = f.fetched(t, `"method":"POST","url":"`+srv.URL+`"`)
	require.Equal(t, flow.CodeHTTPConnect, code)
}

// TestJumpToNothing lets a node take it that there is no flow to jump to.
func TestJumpToNothing(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := running(t, db, nil)
		run := f.begin(t, "ana", nodes(t, ``, `"first":{"type":"flow","config":{"flow":"gone"}},"sorry":{"type":"message","config":{"text":"{{ error.code }}"}}},
			"settings":{"onError":"sorry"`))
		require.Equal(t, runtime.Completed, run.Status, "%+v", run.Error)
		require.Equal(t, []string{"flow.not_found"}, f.did(t, "ana"))

		src := nodes(t, ``, `"first":{"type":"flow","config":{"flow":"later"}}`)
		run = f.begin(t, "ben", src)
		require.Equal(t, runtime.Failed, run.Status)
		require.Equal(t, "flow.not_found", run.Error.Code)
		f.host.mu.Lock()
		f.host.jumps["later"] = nodes(t, ``, `"first":{"type":"message","config":{"text":"Here."}}`)
		f.host.mu.Unlock()
		_, err := f.acc.Retry(t.Context(), run.ID, false)
		require.NoError(t, err)
		f.awaitDid(t, "ben", "Here.")
	})
}

// TestWatch follows a run that continues on another node.
func TestWatch(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := running(t, db, nil)
		there := f.successor(t, db, nil) // it does not run: all turns are taken elsewhere
		run := f.begin(t, "ana", nodes(t, ``, `"first":{"type":"wait","config":{"event":"go"},"next":{"out":"again","timeout":"end"}},
			"again":{"type":"wait","config":{"event":"on"},"next":{"out":"end","timeout":"end"}},"end":{"type":"end","config":{"result":"done"}}`))
		_, err := f.For("stranger").Watch(t.Context(), run.ID)
		require.ErrorIs(t, err, runtime.ErrNotFound)
		seen, err := there.acc.Watch(t.Context(), run.ID)
		require.NoError(t, err)
		require.Equal(t, "go", (<-seen).Event)
		_, err = f.acc.Event(t.Context(), run.ID, flow.Event{Name: "go"})
		require.NoError(t, err)
		require.Equal(t, "on", (<-seen).Event)
		_, err = f.acc.Event(t.Context(), run.ID, flow.Event{Name: "on"})
		require.NoError(t, err)
		last := <-seen
		require.Equal(t, runtime.Completed, last.Status)
		require.JSONEq(t, `"done"`, string(last.Output))
		_, open := <-seen
		require.False(t, open)

		seen, err = f.acc.Watch(t.Context(), run.ID)
		require.NoError(t, err)
		require.Equal(t, runtime.Completed, (<-seen).Status, "one that has ended is shown once")
		_, open = <-seen
		require.False(t, open)

		waiting := f.begin(t, "", nodes(t, ``, `"first":{"type":"delay","config":{"for":"P1D"},"next":{"out":"end"}},"end":{"type":"end"}`))
		erased, err := f.acc.Watch(t.Context(), waiting.ID)
		require.NoError(t, err)
		require.Equal(t, runtime.Waiting, (<-erased).Status)
		require.NoError(t, f.acc.DeleteAll(t.Context()))
		for run := range erased { // a look between the steps of the erasure sees how it began
			require.Equal(t, runtime.Cancelled, run.Status)
		}
	})
}
