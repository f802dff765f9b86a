package webhook_test

import (
	"bytes"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/webhook"
)

// holds is a dispatcher with an endpoint that includes what is extracted, and
// one that does not.
func holds(t *testing.T, db *sqlx.DB, o webhook.Options) (*fixture, *receiver) {
	t.Helper()
	rec := receive(t, nil)
	f := running(t, db, o)
	for _, include := range [][]string{nil, {"extracted"}} {
		path := "/plain"
		if include != nil {
			path = "/extracted"
		}
		_, _, err := f.Put(t.Context(), webhook.Settings{Scope: scope, URL: rec.URL + path, Include: include})
		require.NoError(t, err)
	}
	return f, rec
}

func (f *fixture) deferAll(t testing.TB, evs ...webhook.Deferred) {
	t.Helper()
	require.NoError(t, f.db.InTx(t.Context(), func(tx *database.Tx) error { return f.DeferTx(t.Context(), tx, "extracted", evs...) }))
}

func (f *fixture) release(t testing.TB, key, awaits string) {
	t.Helper()
	require.NoError(t, f.db.InTx(t.Context(), func(tx *database.Tx) error {
		return f.ReleaseTx(t.Context(), tx, key, awaits, func(body []byte) ([]byte, error) {
			return append(bytes.TrimSuffix(body, []byte("}")), `,"more":1}`...), nil
		})
	}))
}

// at are the bodies that a path got, in order.
func (r *receiver) at(path string) []string {
	out := []string{}
	for _, req := range r.all() {
		if req.path == path {
			out = append(out, req.body)
		}
	}
	return out
}

func deferredEvent(key string, n int, awaits string, until time.Time) webhook.Deferred {
	return webhook.Deferred{Event: event(key, n), Awaits: awaits, Until: until}
}

// TestEventsWaitForTheirPart: only at endpoints that include it, only under the
// keys where something waits, and in the order in which all happened.
func TestEventsWaitForTheirPart(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f, rec := holds(t, db, webhook.Options{})
		far := time.Now().Add(time.Hour)
		f.deferAll(t, deferredEvent("a", 0, "", time.Time{}), deferredEvent("a", 1, "m1", far), deferredEvent("a", 2, "", time.Time{}), deferredEvent("b", 3, "", time.Time{}))
		f.deferAll(t, deferredEvent("a", 4, "m4", far), deferredEvent("a", 5, "", time.Time{}))
		f.release(t, "a", "unknown")
		rec.until(t, func() bool { return len(rec.at("/plain")) == 6 && len(rec.at("/extracted")) == 2 })
		require.ElementsMatch(t, []string{`{"key":"a","n":0}`, `{"key":"b","n":3}`}, rec.at("/extracted"))
		f.release(t, "a", "m4")
		f.release(t, "a", "m1")
		rec.until(t, func() bool { return len(rec.at("/extracted")) == 6 })
		var of []string
		for _, body := range rec.at("/extracted") {
			if body != `{"key":"b","n":3}` {
				of = append(of, body)
			}
		}
		require.Equal(t, []string{`{"key":"a","n":0}`, `{"key":"a","n":1,"more":1}`, `{"key":"a","n":2}`, `{"key":"a","n":4,"more":1}`, `{"key":"a","n":5}`}, of)
		f.deferAll(t, deferredEvent("a", 6, "", time.Time{}))
		rec.until(t, func() bool { return len(rec.at("/extracted")) == 7 })
		holding, err := f.HasDeferred(t.Context(), "a")
		require.NoError(t, err)
		require.False(t, holding)
	})
}

// TestEventsGoOutWithoutTheirPart: when their time is over, whichever node looks.
func TestEventsGoOutWithoutTheirPart(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		var ahead atomic.Int64
		f, rec := holds(t, db, webhook.Options{Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }})
		f.deferAll(t, deferredEvent("a", 1, "m1", time.Now().Add(time.Minute)), deferredEvent("a", 2, "", time.Time{}), deferredEvent("b", 3, "m3", time.Now().Add(time.Minute)))
		rec.until(t, func() bool { return len(rec.at("/plain")) == 3 })
		f.stop()
		ahead.Store(int64(time.Hour))
		f = setup(t, db, webhook.Options{Now: func() time.Time { return time.Now().Add(time.Hour) }}).start(t)
		rec.until(t, func() bool { return len(rec.at("/extracted")) == 3 })
		f.release(t, "a", "m1")
		f.until(t, func() bool { n, err := f.HasDeferred(t.Context(), "a"); return err == nil && !n })
		require.Contains(t, rec.at("/extracted"), `{"key":"a","n":1}`)
		require.Len(t, rec.at("/extracted"), 3)
	})
}

// TestManyGoOutWithoutTheirPart: a model that hangs lets the messages of all chats
// wait; when their time is over, they go out together.
func TestManyGoOutWithoutTheirPart(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f := setup(t, db, webhook.Options{})
		_, _, err := f.Put(t.Context(), webhook.Settings{Scope: scope, URL: "http://127.0.0.1:1/", Include: []string{"extracted"}})
		require.NoError(t, err)
		const chats = 3000
		all := make([]webhook.Deferred, chats)
		for i := range all {
			all[i] = deferredEvent(fmt.Sprint("chat", i), i, "m", time.Now().Add(-time.Minute))
		}
		started := time.Now()
		f.deferAll(t, all...)
		work := time.Since(started) // in the time of this machine
		left := func() (n int) {
			require.NoError(t, db.GetContext(t.Context(), &n, `SELECT count(*) FROM webhook_deferred`))
			return n
		}
		require.Equal(t, chats, left())
		f.start(t)
		f.until(t, func() bool { return left() == 0 })
		testkit.Within(t, chats/200*time.Second/2+20*work, "it does not wait between them", func() {
			started := time.Now()
			f.deferAll(t, all...)
			work := time.Since(started)
			f.until(t, func() bool { return left() == 0 })
			t.Logf("held in %s, let go in %s", work, time.Since(started)-work)
		})
	})
}

// TestDeferredEventsOfChats: they move with a chat that becomes one with another, and
// are erased with what they are about.
func TestDeferredEventsOfChats(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f, rec := holds(t, db, webhook.Options{})
		far := time.Now().Add(time.Hour)
		f.deferAll(t, deferredEvent("a", 1, "m1", far), deferredEvent("b", 2, "m2", far), deferredEvent("c", 3, "m3", far))
		require.NoError(t, f.db.InTx(t.Context(), func(tx *database.Tx) error { return f.MergedTx(t.Context(), tx, scope, "b", []string{"a"}) }))
		for key, has := range map[string]bool{"a": false, "b": true, "x": false} { // a has become b
			holding, err := f.HasDeferred(t.Context(), key)
			require.NoError(t, err)
			require.Equal(t, has, holding, key)
		}
		require.NoError(t, f.Erase(t.Context(), webhook.Erasure{Scope: scope, ChatIDs: []string{"c"}}))
		f.release(t, "b", "m2")
		f.release(t, "b", "m1")
		f.release(t, "c", "m3")
		rec.until(t, func() bool { return len(rec.at("/extracted")) == 2 })
		require.Equal(t, []string{`{"key":"a","n":1,"more":1}`, `{"key":"b","n":2,"more":1}`}, rec.at("/extracted"))
		f.deferAll(t, deferredEvent("d", 4, "m4", far))
		require.NoError(t, f.DeleteAll(t.Context()))
		holding, err := f.HasDeferred(t.Context(), "d")
		require.NoError(t, err)
		require.False(t, holding)
	})
}

// TestDeferredEventsOutliveTheSubscription: an endpoint that includes a part no more gets what
// was held for it, once, and before what comes later. A reference that is deleted
// leaves nothing held.
func TestDeferredEventsOutliveTheSubscription(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		f, rec := holds(t, db, webhook.Options{})
		far := time.Now().Add(time.Hour)
		f.deferAll(t, deferredEvent("a", 1, "m1", far), deferredEvent("a", 2, "", time.Time{}))
		rec.until(t, func() bool { return len(rec.at("/plain")) == 2 })
		_, _, err := f.Put(t.Context(), webhook.Settings{Scope: scope, URL: rec.URL + "/extracted", Include: []string{}})
		require.NoError(t, err)
		f.deferAll(t, deferredEvent("a", 3, "", time.Time{}))
		f.release(t, "a", "m1")
		f.deferAll(t, deferredEvent("a", 4, "", time.Time{}))
		rec.until(t, func() bool { return len(rec.at("/extracted")) >= 4 && len(rec.at("/plain")) >= 4 })
		require.Equal(t, []string{`{"key":"a","n":1}`, `{"key":"a","n":2}`, `{"key":"a","n":3}`, `{"key":"a","n":4}`}, rec.at("/extracted"))
		_, _, err = f.Put(t.Context(), webhook.Settings{Scope: scope, URL: rec.URL + "/extracted", Include: []string{"extracted"}})
		require.NoError(t, err)
		f.deferAll(t, deferredEvent("a", 5, "m5", far))
		require.NoError(t, f.DeleteScope(t.Context(), scope))
		holding, err := f.HasDeferred(t.Context(), "a")
		require.NoError(t, err)
		require.False(t, holding)
	})
}

// TestNobodyWaits: without an endpoint that includes the part nothing is held.
func TestNobodyWaits(t *testing.T) {
	t.Parallel()
	f := setup(t, testkit.Open(t, testkit.SQLiteURL(t)), webhook.Options{})
	f.put(t, "http://127.0.0.1:1/plain")
	f.deferAll(t, deferredEvent("a", 1, "m1", time.Now().Add(time.Hour)))
	holding, err := f.HasDeferred(t.Context(), "a")
	require.NoError(t, err)
	require.False(t, holding)
}
