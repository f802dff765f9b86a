package testkit

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
)

// Spans records the spans that a package begins with its Options.Trace, which
// is [Spans.Begin]. The zero value is ready.
type Spans struct {
	mu      sync.Mutex
	started int
	ended   []Span
}

// Span is a span that has ended.
type Span struct {
	Name, Parent, Own string
	Failed            bool
	Attrs             map[string]string
}

// Begin begins a span: in the trace of its parent, else in a new one.
func (s *Spans) Begin(ctx context.Context, parent, name string) (context.Context, string, func(failed bool, attrs ...slog.Attr)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.started++
	trace := fmt.Sprintf("%032x", s.started)
	if parent != "" {
		trace = parent[3:35]
	}
	own := fmt.Sprintf("00-%s-%016x-01", trace, s.started)
	return ctx, own, func(failed bool, attrs ...slog.Attr) {
		s.mu.Lock()
		defer s.mu.Unlock()
		sp := Span{Name: name, Parent: parent, Own: own, Failed: failed, Attrs: map[string]string{}}
		for _, a := range attrs {
			sp.Attrs[a.Key] = a.Value.String()
		}
		s.ended = append(s.ended, sp)
	}
}

// Named are the spans of a name, in the order in which they ended.
func (s *Spans) Named(name string) []Span {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Span
	for _, sp := range s.ended {
		if sp.Name == name {
			out = append(out, sp)
		}
	}
	return out
}
