package middleware

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/trunklinehq/trunkline/server/internal/httpapi"
)

// RequestLog adds the request's id, and that of its trace, to every line that
// is logged for it.
type RequestLog struct{ slog.Handler }

// Handle adds the ids and passes the record on.
func (h RequestLog) Handle(ctx context.Context, rec slog.Record) error {
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

// WithAttrs is as that of the handler below.
func (h RequestLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return RequestLog{h.Handler.WithAttrs(attrs)}
}

// WithGroup is as that of the handler below.
func (h RequestLog) WithGroup(name string) slog.Handler { return RequestLog{h.Handler.WithGroup(name)} }

// AnswerGrace is the time in which a client must take a part of an answer, of up to
// 64 KiB. Who takes none holds a connection for nothing.
const AnswerGrace = 20 * time.Second

// writeSize is the size of the parts in which a large answer is written.
const writeSize = 64 << 10

// Response remembers what was answered, and gives the client a deadline to take it.
type Response struct {
	http.ResponseWriter
	Status int // 0: nothing yet
	Bytes  int64
}

// Answered is the status that the client gets: without an answer 200.
func (w *Response) Answered() int { return cmp.Or(w.Status, http.StatusOK) }

// WriteHeader keeps the first status that is no interim one.
func (w *Response) WriteHeader(status int) {
	if w.Status == 0 && status >= 200 {
		w.Status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write counts what is written.
func (w *Response) Write(b []byte) (written int, err error) {
	w.Status = cmp.Or(w.Status, http.StatusOK)
	defer w.setDeadline(time.Time{})
	for {
		w.setDeadline(time.Now().Add(AnswerGrace))
		n, err := w.ResponseWriter.Write(b[:min(len(b), writeSize)])
		written += n
		w.Bytes += int64(n)
		if b = b[n:]; err != nil || len(b) == 0 {
			return written, err
		}
	}
}

// FlushError sends what is written.
func (w *Response) FlushError() error {
	w.Status = cmp.Or(w.Status, http.StatusOK)
	w.setDeadline(time.Now().Add(AnswerGrace))
	defer w.setDeadline(time.Time{})
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Flush makes w an http.Flusher, which some libraries ask for by assertion.
func (w *Response) Flush() { _ = w.FlushError() }

// Finish gives the client a deadline for the rest, which net/http sends.
func (w *Response) Finish() { w.setDeadline(time.Now().Add(AnswerGrace)) }

// setDeadline sets the deadline of the connection. Recorders of tests have none.
func (w *Response) setDeadline(t time.Time) {
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(t)
}

// Unwrap lets http.ResponseController reach what is below.
func (w *Response) Unwrap() http.ResponseWriter { return w.ResponseWriter }
