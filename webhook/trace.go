package webhook

import (
	"context"
	"log/slog"

	"github.com/trunklinehq/trunkline/internal/span"
)

// begin begins the span of an attempt, the number of which counts from 1.
func (d *Dispatcher) begin(ctx context.Context, j *job, number int) (context.Context, *span.Span) {
	ctx, s := span.Begin(ctx, d.opts.Trace, "webhook.deliver")
	if s == nil {
		return ctx, nil
	}
	j.traceparent = span.Of(ctx)
	s.Set(slog.String("endpoint", j.ep.ID))
	s.Set(slog.String("event", j.ev.ID))
	s.Set(slog.String("type", j.ev.Type))
	s.Set(slog.Int("attempt", number))
	return ctx, s
}

// end ends it, saying what came of the attempt.
func (r *result) end(s *span.Span) {
	if s == nil {
		return
	}
	s.Set(slog.Int("status", r.StatusCode))
	s.Set(slog.String("outcome", r.label()))
	s.End(!r.ok())
}
