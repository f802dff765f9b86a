// Package span carries traces through code that does not know a tracing library,
// and through rows that wait between two steps of work.
//
// It passes a W3C traceparent ([Trace Context]): a string in a context or in a
// column. A [Hook] starts the spans; without one no spans are started, and nothing
// is allocated.
//
// [Trace Context]: https://www.w3.org/TR/trace-context/#traceparent-header
package span

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
)

// Hook starts a span. name describes the operation, parent is the traceparent of
// its parent, "" if there is none. It returns the context for the operation, the
// traceparent of the span, and a function that ends the span.
type Hook = func(ctx context.Context, parent, name string) (context.Context, string, func(failed bool, attrs ...slog.Attr))

type key struct{}

// Of returns the traceparent of ctx; "": none.
func Of(ctx context.Context) string {
	parent, _ := ctx.Value(key{}).(string)
	return parent
}

// maxLength is the maximum length of a traceparent in bytes: twice the current
// length.
const maxLength = 128

// Fit returns a traceparent that fits into columns and headers, and "" for one that
// does not. An invalid one is not an error, since it only affects traces.
func Fit(parent string) string {
	if len(parent) > maxLength || strings.ContainsFunc(parent, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return ""
	}
	return parent
}

// With returns ctx with a traceparent, after [Fit]; "" removes it.
func With(ctx context.Context, parent string) context.Context {
	if parent = Fit(parent); Of(ctx) == parent {
		return ctx
	}
	return context.WithValue(ctx, key{}, parent)
}

// Span is an operation in progress. nil: it is not traced.
type Span struct {
	end   func(failed bool, attrs ...slog.Attr)
	attrs []slog.Attr
}

// Begin starts a span below that of ctx, and returns the context for the operation.
// [Span.End] ends it. If the hook panics there is no span: the operation is more
// important than its trace.
func Begin(ctx context.Context, hook Hook, name string) (context.Context, *Span) {
	if hook == nil {
		return ctx, nil
	}
	return begin(ctx, hook, name)
}

func begin(ctx context.Context, hook Hook, name string) (within context.Context, s *Span) {
	defer func() {
		if complain(recover()) {
			within, s = ctx, nil
		}
	}()
	within, own, end := hook(ctx, Of(ctx), name)
	within = cmp.Or(within, ctx)
	return With(within, own), &Span{end: end}
}

// complain logs the panic of a hook. It reports whether there was one.
func complain(panicked any) bool {
	if panicked == nil {
		return false
	}
	slog.Default().Error("the tracer panicked", "panic", fmt.Sprint(panicked), "stack", string(debug.Stack()))
	return true
}

// Set adds an attribute to a span: ids, kinds and counts, but never the texts or
// numbers of people, or secrets.
func (s *Span) Set(attr slog.Attr) {
	if s != nil {
		s.attrs = append(s.attrs, attr)
	}
}

// End ends a span. Only the first call counts.
func (s *Span) End(failed bool) {
	if s == nil || s.end == nil {
		return
	}
	end := s.end
	s.end = nil
	defer func() { complain(recover()) }()
	end(failed, s.attrs...)
}
