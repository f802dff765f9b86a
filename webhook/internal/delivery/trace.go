package delivery

import (
	"context"
	"log/slog"

	"github.com/trunklinehq/trunkline/internal/span"
)

// begin begins the span of an attempt, the number of which counts from 1.
func (d *Sender) begin(ctx context.Context, j *Job, number int) (context.Context, *span.Span) {
	ctx, s := span.Begin(ctx, d.Trace, "webhook.deliver")
	if s == nil {
		return ctx, nil
	}
	j.Traceparent = span.Of(ctx)
	s.Set(slog.String("endpoint", j.Target.ID))
	s.Set(slog.String("event", j.Event.ID))
	s.Set(slog.String("type", j.Event.Type))
	s.Set(slog.Int("attempt", number))
	return ctx, s
}

// end ends it, saying what came of the attempt.
func (r *Result) end(s *span.Span) {
	if s == nil {
		return
	}
	s.Set(slog.Int("status", r.StatusCode))
	s.Set(slog.String("outcome", r.label()))
	s.End(!r.ok())
}
