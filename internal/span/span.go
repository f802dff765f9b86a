// Package span carries traces through code that knows no tracing library, and
// through the rows that wait between two pieces of work.
//
// What crosses is a W3C traceparent ([Trace Context]): a string in a context or
// in a column. Who begins spans is a [Hook]; without one nothing is begun, and
// nothing is allocated.
//
// [Trace Context]: https://www.w3.org/TR/trace-context/#traceparent-header
package span

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
)

// Hook begins a span: name says what is done, parent is the traceparent of
// what it follows from, "" when there is none. It returns the context to do it
// in, the traceparent of the span itself, and what ends it.
type Hook = func(ctx context.Context, parent, name string) (context.Context, string, func(failed bool, attrs ...slog.Attr))

type key struct{}

// Of is the traceparent of ctx; "": there is none.
func Of(ctx context.Context) string {
	parent, _ := ctx.Value(key{}).(string)
	return parent
}

// maxLength is how many bytes a traceparent may have: twice what those of today
// have.
const maxLength = 128

// Fit is a traceparent as columns and headers can hold it, and "" for one that
// cannot be any: it is of a trace only, and stops nothing.
func Fit(parent string) string {
	if len(parent) > maxLength || strings.ContainsFunc(parent, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return ""
	}
	return parent
}

// With is ctx with a traceparent that is [Fit]; "" takes one away.
func With(ctx context.Context, parent string) context.Context {
	if parent = Fit(parent); Of(ctx) == parent {
		return ctx
	}
	return context.WithValue(ctx, key{}, parent)
}

// Span is something that is being done. nil: it is not traced.
type Span struct {
	end   func(failed bool, attrs ...slog.Attr)
	attrs []slog.Attr
}

// Begin begins a span below that of ctx, and returns the context to work in.
// It is over with [Span.End]. A hook that panics begins none: what is done is
// worth more than its trace.
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
	if within == nil {
		within = ctx
	}
	return With(within, own), &Span{end: end}
}

// complain says that a hook panicked, if it did.
func complain(panicked any) bool {
	if panicked == nil {
		return false
	}
	slog.Default().Error("the tracer panicked", "panic", fmt.Sprint(panicked), "stack", string(debug.Stack()))
	return true
}

// Set notes what is known of a span: ids of ours, kinds and counts; never what
// people wrote, their numbers, or a secret.
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
