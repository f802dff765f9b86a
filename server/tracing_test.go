package server_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/embedded"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/server"
)

// spanBook is a tracing library that keeps the spans that have ended.
type spanBook struct {
	embedded.TracerProvider
	mu    sync.Mutex
	ended []*keptSpan
}

func (r *spanBook) Tracer(string, ...trace.TracerOption) trace.Tracer { return bookTracer{r: r} }

type bookTracer struct {
	embedded.Tracer
	r *spanBook
}

// keptSpan is a span.
type keptSpan struct {
	noop.Span
	r          *spanBook
	name       string
	kind       trace.SpanKind
	parent, sc trace.SpanContext
	attrs      []string
	failed     bool
}

func (t bookTracer) Start(ctx context.Context, name string, opts ...trace.SpanStartOption) (context.Context, trace.Span) {
	c := trace.NewSpanStartConfig(opts...)
	s := &keptSpan{r: t.r, name: name, kind: c.SpanKind(), parent: trace.SpanContextFromContext(ctx)}
	s.SetAttributes(c.Attributes()...)
	sc := trace.SpanContextConfig{TraceID: s.parent.TraceID(), TraceFlags: trace.FlagsSampled}
	if !s.parent.IsValid() {
		_, _ = rand.Read(sc.TraceID[:])
	}
	_, _ = rand.Read(sc.SpanID[:])
	s.sc = trace.NewSpanContext(sc)
	return trace.ContextWithSpan(ctx, s), s
}

func (s *keptSpan) SpanContext() trace.SpanContext      { return s.sc }
func (s *keptSpan) IsRecording() bool                   { return true }
func (s *keptSpan) SetName(name string)                 { s.name = name }
func (s *keptSpan) SetStatus(code codes.Code, _ string) { s.failed = code == codes.Error }

func (s *keptSpan) SetAttributes(kvs ...attribute.KeyValue) {
	for _, kv := range kvs {
		s.attrs = append(s.attrs, string(kv.Key)+"="+kv.Value.String())
	}
}

func (s *keptSpan) End(...trace.SpanEndOption) {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	s.r.ended = append(s.r.ended, s)
}

// followed are the spans of the caller's trace.
func (r *spanBook) followed() []*keptSpan {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []*keptSpan
	for _, s := range r.ended {
		if s.sc.TraceID().String() == callersTrace {
			out = append(out, s)
		}
	}
	return out
}

// lineage is a span's name behind those of its ancestors.
func lineage(s *keptSpan, all []*keptSpan) string {
	for _, p := range all {
		if p.sc.SpanID() == s.parent.SpanID() {
			return lineage(p, all) + " > " + s.name
		}
	}
	return s.parent.SpanID().String() + " > " + s.name
}

// holds says that some texts have each of others, as often as it is there.
func holds(some, others []string) bool {
	left := slices.Clone(some)
	for _, s := range others {
		i := slices.Index(left, s)
		if i < 0 {
			return false
		}
		left = slices.Delete(left, i, i+1)
	}
	return true
}

const (
	callersTrace = "0af7651916cd43dd8448eb211c80319c"
	callersSpan  = "b7ad6b7169203331"
	traceparent  = "00-" + callersTrace + "-" + callersSpan + "-01"
)

// TestTrace: a message, what is found in it, the bot's answer and the webhooks
// of both, one of them tried twice, are one trace, below that of the caller,
// although another node does most of it.
func TestTrace(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, db *sqlx.DB) {
		var there, here spanBook
		a := setupOn(t, db, func(c *server.Config) { local(c); c.Tracer = &there })
		working(t, setupOn(t, db, func(c *server.Config) { local(c); c.Tracer = &here }))
		ana := a.as(t, "ana")
		ref := ana.sandbox(t)
		ana.extractor(t, ref, "regex", `{"pattern":"#(?P<order>\\d+)","groups":{"order":"number"}}`)
		ana.bot(t, ref, orderBot)
		var mu sync.Mutex
		carried := map[string]bool{}
		receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			if len(carried) == 0 {
				w.WriteHeader(http.StatusTeapot)
			}
			carried[r.Header.Get("Traceparent")] = true
		}))
		t.Cleanup(receiver.Close)
		ana.call(t, "POST", "/references/registerWebHook", fmt.Sprintf(`{"reference":%d,"webhook":%q,"events":["message"]}`, ref, receiver.URL)).json(201)

		const contact, text = "5511987654321", "where is #17?"
		path := fmt.Sprintf("/sandbox/%d/messages", ref)
		ana.call(t, "POST", path, fmt.Sprintf(`{"from":%q,"type":"text","text":%q}`, contact, text), "Traceparent", traceparent).json(201)
		ana.awaitShown(t, ref, contact, "out: "+text, "in: Order 17 is on its way.")

		const (
			received = callersSpan + " > POST /sandbox/{reference}/messages > messaging.receive"
			answered = received + " > flow.turn > messaging.queue > messaging.send"
			reported = answered + " > messaging.receive" // simulated phones report at once
		)
		want := []string{
			callersSpan + " > POST /sandbox/{reference}/messages", received, received + " > webhook.deliver", received + " > webhook.deliver",
			received + " > flow.turn", received + " > flow.turn > flow.prepare", received + " > flow.turn > messaging.queue",
			answered, reported, reported + " > webhook.deliver",
		}
		var all []*keptSpan
		var got []string
		ana.until(t, func() bool {
			all, got = append(there.followed(), here.followed()...), nil
			for _, s := range all {
				got = append(got, lineage(s, all))
			}
			return holds(got, want)
		})
		require.Subset(t, want, got)
		require.Len(t, got, len(want))
		require.Len(t, there.followed(), 2, "the rest was done elsewhere")
		for _, s := range here.followed() {
			own := fmt.Sprintf("00-%s-%s-01", s.sc.TraceID(), s.sc.SpanID())
			require.Equal(t, s.name == "webhook.deliver", carried[own], s.name)
		}
		for _, s := range all {
			said := strings.Join(s.attrs, " ")
			require.NotContains(t, said, contact, s.name)
			require.NotContains(t, said, "#17", s.name)
			require.NotContains(t, said, "on its way", s.name)
			require.NotContains(t, said, ana.token, s.name)
			require.Equal(t, strings.Contains(said, "trunkline.status=418"), s.failed, s.name)
		}
		require.Contains(t, a.log.String(), `"trace_id":"`+callersTrace+`"`)
	})
}

// TestTraceBegins: who reads begins nothing; who writes begins a trace of his
// own, also where what he sends along is no traceparent.
func TestTraceBegins(t *testing.T) {
	t.Parallel()
	var r spanBook
	f := setup(t, func(c *server.Config) { c.Tracer = &r })
	ana := f.as(t, "ana")
	before := len(r.ended)
	ana.call(t, "GET", "/user/me", "", "Traceparent", traceparent).json(200)
	require.Len(t, r.ended, before)
	ana.call(t, "POST", "/reference", `{}`, "Traceparent", "00-00000000000000000000000000000000-zz-01").problem(422, "validation")
	require.Len(t, r.ended, before+1)
	s := r.ended[before]
	require.False(t, s.parent.IsValid())
	require.Equal(t, "POST /reference", s.name)
	require.Equal(t, trace.SpanKindServer, s.kind)
	require.Equal(t, []string{"http.request.method=POST", "http.route=/reference", "http.response.status_code=422"}, s.attrs)
	require.False(t, s.failed)
}

// TestNotTraced: without a tracer nothing is begun, kept or passed on.
func TestNotTraced(t *testing.T) {
	t.Parallel()
	onDatabases(t, local, func(t *testing.T, f fixture) {
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		in := startIntegrator(t)
		in.listen(t, ana, ref, "/", "")
		ana.call(t, "POST", fmt.Sprintf("/sandbox/%d/messages", ref), `{"from":"bob","type":"text","text":"hi"}`, "Traceparent", traceparent).json(201)
		for _, d := range in.wait(t, 1) {
			require.NotContains(t, d.header, "Traceparent")
		}
		require.NotContains(t, f.log.String(), "trace_id")
	})
}
