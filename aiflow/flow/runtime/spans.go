package runtime

import (
	"context"
	"errors"
	"log/slog"

	"github.com/trunklinehq/trunkline/internal/span"
)

// traced does what follows from one input, below what the input follows from.
func (h *turnHandler) traced(ctx context.Context, in *inputRow, runs []*runRow) error {
	ctx, in.span = span.Begin(span.With(ctx, in.Traceparent), h.opts.Trace, "flow.turn")
	err := h.work(ctx, in, runs)
	if in.span == nil {
		return err
	}
	in.span.Set(slog.String("input", in.Kind))
	if in.routed != nil && in.routed.Outcome != "" {
		in.span.Set(slog.String("route", in.routed.Outcome))
	}
	in.span.End(err != nil && !errors.Is(err, errTaken))
	return err
}

// describe says in the span of a turn what it has become; row is its run.
func (t *turn) describe(row *runRow) {
	if t.in == nil || t.in.span == nil {
		return
	}
	t.in.span.Set(slog.String("engine", row.Engine))
	t.in.span.Set(slog.String("run", row.ID))
	t.in.span.Set(slog.Int64("turn", row.Turn))
	t.in.span.Set(slog.Int("steps", len(t.out.Trace)))
	t.in.span.Set(slog.String("status", string(row.Status)))
}

// answer makes a call.
func (o *outbound) answer(ctx context.Context, run *runRow, a *answer) {
	ctx, made := span.Begin(ctx, o.opts.Trace, "flow.call")
	a.traceparent = span.Of(ctx)
	a.result, a.err = o.perform(ctx, run, a.call)
	if made == nil {
		return
	}
	made.Set(slog.String("kind", string(a.call.Kind)))
	made.Set(slog.String("run", run.ID))
	made.Set(slog.String("node", a.call.Node))
	made.Set(slog.Int("attempt", a.call.Attempt))
	if a.err != nil {
		made.Set(slog.String("code", a.err.Code))
	}
	made.End(a.err != nil)
}
