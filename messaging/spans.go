package messaging

import (
	"context"
	"log/slog"

	"github.com/trunklinehq/trunkline/internal/queue"
	"github.com/trunklinehq/trunkline/internal/span"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/internal/timeline"
)

// The spans of this package. Ids of chats are numbers of people, and those that
// networks give messages may have them in them: no span has one.

// beginReceive begins the span of what a network reports at once.
func (s *Service) beginReceive(ctx context.Context, as []inboundEvent) (context.Context, *span.Span) {
	ctx, received := span.Begin(ctx, s.opts.Trace, "messaging.receive")
	if received != nil {
		received.Set(slog.Int64("reference", int64(as[0].reference.ID)))
		received.Set(slog.String("kind", string(as[0].reference.Kind)))
		received.Set(slog.Int("events", len(as)))
	}
	return ctx, received
}

// queueSend stores the messages of a prepared message, to be sent, and returns the one
// that stands for all.
func (s *Service) queueSend(ctx context.Context, u *store.Batch, d preparedMessage) (int64, error) {
	ctx, queued := span.Begin(ctx, s.opts.Trace, "messaging.queue")
	u.Traceparent = span.Of(ctx)
	seq, err := s.queueParts(ctx, u, d)
	if queued != nil {
		queued.Set(slog.Int64("reference", int64(d.line.ID)))
		queued.Set(slog.String("kind", string(d.line.Kind)))
		queued.Set(slog.String("type", d.content.Type()))
		if m := u.Messages[seq]; m != nil {
			queued.Set(slog.String("message", s.ownID(d.row, m)))
		}
		queued.End(err != nil)
	}
	return seq, err
}

// attemptSend makes one attempt at a message.
func (s *Service) attemptSend(ctx context.Context, it queue.Job, j *job) queue.Outcome {
	ctx, sent := span.Begin(ctx, s.opts.Trace, "messaging.send")
	out := s.sendMessage(ctx, it, j)
	if sent == nil {
		return out
	}
	sent.Set(slog.Int64("reference", int64(j.Reference)))
	sent.Set(slog.String("kind", string(j.ref.Kind)))
	sent.Set(slog.String("message", s.ownID(j.ref, &j.Message)))
	sent.Set(slog.Int("attempt", it.Attempt+1))
	a, attempted := out.Data.(attempt)
	outcome := a.outcome()
	if !attempted && out.Result == queue.Done {
		outcome = "settled" // by a status
	}
	sent.Set(slog.String("outcome", outcome))
	if a.failed != nil {
		sent.Set(slog.String("code", a.failed.Code))
	}
	if attempted {
		a.parent = span.Of(ctx)
		out.Data = a
	}
	sent.End(outcome != timeline.Sent && outcome != "settled")
	return out
}

// attemptFile makes one attempt to fetch a file.
func (s *Service) attemptFile(ctx context.Context, it queue.Job) queue.Outcome {
	ctx, fetching := span.Begin(ctx, s.opts.Trace, "messaging.fetch")
	out := s.handleFile(ctx, it)
	if fetching == nil {
		return out
	}
	f, is := out.Data.(fetched)
	fetching.Set(slog.String("reference", it.Subscriber))
	fetching.Set(slog.Int("attempt", it.Attempt+1))
	if f.lost != nil {
		fetching.Set(slog.String("code", f.lost.Code))
	}
	fetching.End(out.Result != queue.Done || is && f.lost != nil)
	return out
}
