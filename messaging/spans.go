package messaging

import (
	"context"
	"log/slog"

	"github.com/trunklinehq/trunkline/internal/span"
	"github.com/trunklinehq/trunkline/messaging/internal/ingest"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
)

// The spans of this package. Ids of chats are numbers of people, and those that
// networks give messages may have them in them: no span has one.

// beginReceive begins the span of what a network reports at once.
func (s *Service) beginReceive(ctx context.Context, as []ingest.Event) (context.Context, *span.Span) {
	ctx, received := span.Begin(ctx, s.opts.Trace, "messaging.receive")
	if received != nil {
		received.Set(slog.Int64("reference", int64(as[0].Reference.ID)))
		received.Set(slog.String("kind", string(as[0].Reference.Kind)))
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
			queued.Set(slog.String("message", s.sender.OwnID(d.row, m)))
		}
		queued.End(err != nil)
	}
	return seq, err
}
