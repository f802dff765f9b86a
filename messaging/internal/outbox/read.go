package outbox

import (
	"context"

	"github.com/trunklinehq/trunkline/internal/queue"
	"github.com/trunklinehq/trunkline/messaging/internal/connection"
	"github.com/trunklinehq/trunkline/messaging/internal/refusal"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// readTries is how often the news of a read message is tried: it holds back
// the chat's sends, and is not worth much of that.
const readTries = 3

func markRead(ctx context.Context, r provider.Reader, j *job) error {
	if wants, ok := r.(provider.AboutReader); ok {
		return wants.MarkReadAbout(ctx, j.chat.Address(), j.ID, about(&j.Message, j.chat))
	}
	return r.MarkRead(ctx, j.chat.Address(), j.ID)
}

// sendRead tells the network that a message was read, and with typing, at the
// first try, that an answer is being written.
func (s *Sender) sendRead(ctx context.Context, it queue.Job, j *job, typing bool) queue.Outcome {
	out := queue.Outcome{Job: it, Result: queue.Done}
	if j.ref.State == payload.StateLoggedOut || it.Attempt >= readTries {
		return out
	}
	sess, err := s.Connections.Get(ctx, j.ref)
	r, reads := sess.(provider.Reader)
	t, types := sess.(provider.Typist)
	ctx, cancel := context.WithTimeout(ctx, connection.CallTimeout)
	defer cancel()
	switch {
	case err != nil:
	case typing && types && it.Attempt == 0:
		err = t.Typing(ctx, j.chat.Address(), j.ID)
	case reads:
		err = markRead(ctx, r, j)
	}
	if err != nil && !refusal.Certain(err) {
		out.Result, out.After = queue.Retry, refusal.RetryDelay(it.Attempt, 0)
	}
	return out
}
