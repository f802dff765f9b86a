package middleware

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/trunklinehq/trunkline/internal/span"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
)

// Tracing begins spans, for requests and for services, which know no tracing
// library. nil: nothing is traced.
type Tracing struct{ tracer trace.Tracer }

const headerTraceparent = "Traceparent"

// spanKinds are those of spans that are not internal.
var spanKinds = map[string]trace.SpanKind{
	"messaging.receive": trace.SpanKindConsumer,
	"messaging.fetch":   trace.SpanKindClient,
	"messaging.queue":   trace.SpanKindProducer,
	"messaging.send":    trace.SpanKindClient,
	"flow.call":         trace.SpanKindClient,
	"webhook.deliver":   trace.SpanKindClient,
}

// NewTracing begins spans with those of a provider; nil: with none.
func NewTracing(p trace.TracerProvider, version string) *Tracing {
	if p == nil {
		return nil
	}
	return &Tracing{p.Tracer("github.com/trunklinehq/trunkline/server", trace.WithInstrumentationVersion(version))}
}

// Hook is what services begin spans with; nil: nothing.
func (t *Tracing) Hook() span.Hook {
	if t == nil {
		return nil
	}
	return t.begin
}

// begin is a [span.Hook].
func (t *Tracing) begin(ctx context.Context, parent, name string) (context.Context, string, func(failed bool, attrs ...slog.Attr)) {
	ctx, started := t.tracer.Start(below(ctx, parent), name, trace.WithSpanKind(cmp.Or(spanKinds[name], trace.SpanKindInternal)))
	return ctx, traceparent(ctx), func(failed bool, attrs ...slog.Attr) {
		if started.IsRecording() {
			for _, a := range attrs {
				started.SetAttributes(attributeOf(a))
			}
		}
		finish(started, failed)
	}
}

// Request begins the span of a request that may change something; those that
// only read begin nothing that could be followed. What it returns ends it.
func (t *Tracing) Request(ctx context.Context, r *http.Request, req *httpapi.Request) (context.Context, func(status int)) {
	if t == nil || !changes(r.Method) {
		return ctx, func(int) {}
	}
	ctx, started := t.tracer.Start(below(ctx, r.Header.Get(headerTraceparent)), r.Method,
		trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(attribute.String("http.request.method", r.Method)))
	return span.With(ctx, traceparent(ctx)), func(status int) {
		if req.Route != "" {
			started.SetName(r.Method + " " + req.Route)
			started.SetAttributes(attribute.String("http.route", req.Route))
		}
		started.SetAttributes(attribute.Int("http.response.status_code", status))
		finish(started, status >= http.StatusInternalServerError)
	}
}

// changes says whether a request of a method may change something.
func changes(method string) bool {
	switch method {
	case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
		return true
	}
	return false
}

// finish ends a span. Why it failed is not said: errors may quote people.
func finish(s trace.Span, failed bool) {
	if failed {
		s.SetStatus(codes.Error, "")
	}
	s.End()
}

// below is ctx with a traceparent as the parent of the next span, unless it is
// that of the span in ctx. A malformed one changes nothing.
func below(ctx context.Context, parent string) context.Context {
	if parent == "" || parent == traceparent(ctx) {
		return ctx
	}
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": parent})
}

// traceparent is that of the span in ctx; "": there is none.
func traceparent(ctx context.Context) string {
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier["traceparent"]
}

func attributeOf(a slog.Attr) attribute.KeyValue {
	key := attribute.Key("trunkline." + a.Key)
	if a.Value.Kind() == slog.KindInt64 {
		return key.Int64(a.Value.Int64())
	}
	return key.String(a.Value.String())
}
