package webhook_test

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/webhook"
)

const cause = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

// TestSpans: each attempt is a span below what the event follows from, on
// whatever node, also of an event that was held and of a test; the request
// carries it.
func TestSpans(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		rec := receive(t, nil)
		var there, here testkit.Spans
		first := setup(t, db, webhook.Options{Trace: there.Begin})
		plain := first.put(t, rec.URL+"/plain")
		_, _, err := first.Put(t.Context(), webhook.Settings{Scope: scope, URL: rec.URL + "/extracted", Include: []string{"extracted"}})
		require.NoError(t, err)
		ev := deferredEvent("a", 1, "m1", time.Now().Add(time.Hour))
		ev.Traceparent = cause
		first.deferAll(t, ev)
		first.release(t, "a", "m1")

		second := running(t, db, webhook.Options{Trace: here.Begin, Policy: fast})
		here.Await(t, "webhook.deliver", 2)
		require.Empty(t, there.Named("webhook.deliver"))
		carried := map[string]bool{}
		for _, req := range rec.all() {
			carried[req.header.Get("Traceparent")] = true
		}
		for _, s := range here.Named("webhook.deliver") {
			require.Equal(t, cause, s.Parent)
			require.True(t, carried[s.Own])
			require.False(t, s.Failed)
			require.Equal(t, "1", s.Attrs["attempt"])
			require.Equal(t, "200", s.Attrs["status"])
			require.Equal(t, "delivered", s.Attrs["outcome"])
		}

		_, err = second.Test(t.Context(), plain.ID, event("a", 2))
		require.NoError(t, err)
		require.Len(t, here.Named("webhook.deliver"), 3)
		require.Empty(t, here.Named("webhook.deliver")[2].Parent)
	})
}

// TestSpansOfRetries: a retry is a span beside the first.
func TestSpansOfRetries(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		rec := receive(t, func(n int, _ request, w http.ResponseWriter) {
			if n < 3 {
				w.WriteHeader(http.StatusTeapot)
			}
		})
		var spans testkit.Spans
		f := running(t, db, webhook.Options{Trace: spans.Begin, Policy: fast})
		f.put(t, rec.URL)
		ev := event("a", 1)
		ev.Traceparent = cause
		f.publish(t, ev)
		f.until(t, func() bool { return len(spans.Named("webhook.deliver")) == 3 })
		for i, s := range spans.Named("webhook.deliver") {
			require.Equal(t, cause, s.Parent)
			require.Equal(t, s.Own, rec.all()[i].header.Get("Traceparent"))
			require.Equal(t, i < 2, s.Failed)
		}
	})
}

// TestNoSpans: without a tracer no request says what it follows from.
func TestNoSpans(t *testing.T) {
	t.Parallel()
	rec := receive(t, nil)
	f := running(t, testkit.Open(t, testkit.SQLiteURL(t)), webhook.Options{})
	f.put(t, rec.URL)
	ev := event("a", 1)
	ev.Traceparent = cause
	f.publish(t, ev)
	rec.until(t, func() bool { return len(rec.all()) == 1 })
	require.NotContains(t, rec.all()[0].header, "Traceparent")
}

// TestSpansOfABadTracer has a tracer panic, and give back what no header can
// hold: what is traced comes all the same, as does an event with a traceparent
// that is none.
func TestSpansOfABadTracer(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		rec := receive(t, nil)
		var started atomic.Int64
		f := running(t, db, webhook.Options{Policy: fast, Trace: func(ctx context.Context, _, _ string) (context.Context, string, func(bool, ...slog.Attr)) {
			switch started.Add(1) {
			case 1:
				panic("the tracer broke")
			case 2:
				return nil, "a\r\nb: c", nil
			}
			return ctx, cause, func(bool, ...slog.Attr) { panic("the tracer broke") }
		}})
		f.put(t, rec.URL)
		evs := []webhook.Event{event("a", 1), event("a", 2), event("a", 3)}
		evs[0].Traceparent, evs[1].Traceparent, evs[2].Traceparent = "\x00", strings.Repeat("0", 1<<20), "\xff"
		f.publish(t, evs...)
		got := rec.wait(t, 3)
		f.until(t, func() bool { return outcomes(t, f, "delivered") == 3 })
		require.Len(t, rec.all(), 3)
		for i, parent := range []string{"", "", cause} {
			require.Equal(t, parent, got[i].header.Get("Traceparent"))
		}
	})
}
