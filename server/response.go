package server

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"

	"go.opentelemetry.io/otel/trace"

	"github.com/trunklinehq/trunkline/server/internal/httpapi"
)

// requestLog adds the request's id, and that of its trace, to every line that
// is logged for it.
type requestLog struct{ slog.Handler }

func (h requestLog) Handle(ctx context.Context, rec slog.Record) error {
	if r := httpapi.RequestOf(ctx); r.ID != "" {
		rec = rec.Clone()
		rec.AddAttrs(slog.String("request_id", r.ID))
	}
	if sc := trace.SpanContextFromContext(ctx); sc.HasTraceID() {
		rec = rec.Clone()
		rec.AddAttrs(slog.String("trace_id", sc.TraceID().String()))
	}
	return h.Handler.Handle(ctx, rec)
}

func (h requestLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return requestLog{h.Handler.WithAttrs(attrs)}
}

func (h requestLog) WithGroup(name string) slog.Handler { return requestLog{h.Handler.WithGroup(name)} }

// response remembers what was answered.
type response struct {
	http.ResponseWriter
	status int // 0: nothing yet
	bytes  int64
}

// answered is the status that the client gets: without an answer 200.
func (w *response) answered() int { return cmp.Or(w.status, http.StatusOK) }

func (w *response) WriteHeader(status int) {
	if w.status == 0 && status >= 200 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *response) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(b)
	w.bytes += int64(n)
	return n, err
}

// Flush makes w an http.Flusher, which some libraries ask for by assertion.
func (w *response) Flush() {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	_ = http.NewResponseController(w.ResponseWriter).Flush()
}

// Unwrap lets http.ResponseController reach what is below.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }
