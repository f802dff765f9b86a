package testkit

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"

	"github.com/trunklinehq/trunkline/internal/testsignal"
)

// Spans records the spans that a package starts with its Options.Trace, which must
// be [Spans.Begin]. The zero value is ready to use.
type Spans struct {
	mu      sync.Mutex
	started int
	ended   []Span
	changed testsignal.Signal
}

// Span is a span that has ended.
type Span struct {
	Name, Parent, Own string
	Failed            bool
	Attrs             map[string]string
}

// Begin starts a span, in the trace of its parent or else in a new one.
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
		s.changed.Send()
	}
}

// Await returns the spans with a name once n of them have ended.
func (s *Spans) Await(t testing.TB, name string, n int) []Span {
	t.Helper()
	Until(t, []*testsignal.Signal{&s.changed}, func() bool { return len(s.Named(name)) >= n }, "%d spans %s end", n, name)
	return s.Named(name)
}

// Named returns the spans with a name, in the order in which they ended.
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
