package outbox

import (
	"context"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/queue"
	"github.com/trunklinehq/trunkline/internal/text"
	"github.com/trunklinehq/trunkline/messaging/internal/ingest"
	"github.com/trunklinehq/trunkline/messaging/internal/render"
	"github.com/trunklinehq/trunkline/messaging/internal/sanitize"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/internal/template"
	"github.com/trunklinehq/trunkline/messaging/internal/timeline"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// Complete records what attempts found out, in the transaction that
// finishes them.
func (s *Sender) Complete(ctx context.Context, tx *database.Tx, outs []queue.Outcome) error {
	u := s.Store.Begin(tx)
	attempts := map[int64]attempt{}
	var seqs []int64
	for _, o := range outs {
		if a, ok := o.Data.(attempt); ok {
			attempts[a.seq] = a
			seqs = append(seqs, a.seq)
		}
	}
	if len(seqs) == 0 {
		return nil
	}
	if err := u.LoadLocked(ctx, seqs); err != nil {
		return err
	}
	for _, seq := range seqs {
		m := u.Messages[seq]
		if m == nil {
			continue // deleted meanwhile
		}
		u.Traceparent = attempts[seq].parent
		if err := complete(ctx, u, u.References[m.Reference], m, attempts[seq]); err != nil {
			return err
		}
	}
	return u.Flush(ctx)
}

// contactNamed gives a message the id that the network chose for it, unless another
// message has that id already.
func contactNamed(ctx context.Context, u *store.Batch, m *store.Message, id string) error {
	if id = text.Sanitize(id); id == "" || id == m.ID || len(id) > render.MaxTextLength {
		return nil
	}
	at, err := u.Locate(ctx, []store.MessageKey{{Reference: m.Reference, ID: id}})
	if err != nil || len(at) > 0 {
		return err
	}
	m.ID = id
	return nil
}

// complete applies one attempt.
func complete(ctx context.Context, u *store.Batch, l store.ReferenceInfo, m *store.Message, a attempt) error {
	m.Tried = true
	timeline.RecordAttempt(u, m, a.outcome(), a.failure())
	if a.receipt != nil && a.receipt.To != nil {
		if err := u.Link(ctx, l, u.Chats[m.Chat], sanitize.Address(*a.receipt.To)); err != nil {
			return err
		}
	}
	if a.receipt != nil {
		if err := countOwnVote(ctx, u, l, m); err != nil {
			return err
		}
	}
	if m.Announced {
		return nil // a status was faster
	}
	switch {
	case a.receipt != nil:
		m.SentUS = database.Micros(u.Now)
		if err := contactNamed(ctx, u, m, a.receipt.MessageID); err != nil {
			return err
		}
		ingest.Announce(u, l, u.Chats[m.Chat], m, provider.StatusSending, payload.Failure{})
		return ingest.TakeEarlyStatus(ctx, u, l, m)
	case a.failed != nil:
		m.StartedUS = 0
		u.Questions.Withdraw(u.Chats[m.Chat], m.Seq)
		ingest.Announce(u, l, u.Chats[m.Chat], m, provider.StatusFail, store.FailureOf(*a.failed))
		if a.failed.Code == template.CodeUnknown {
			return template.RefetchUnknown(ctx, u, m)
		}
	case a.uncertain:
		m.SentUS = database.Micros(u.Now)
		m.SetFailure(payload.Failure{Code: "unconfirmed", Message: "The network did not confirm the message. It may have been sent."})
		m.GiveUpUS = database.Micros(u.Now.Add(confirmTimeout))
		u.Publish(l.Account, m.Reference, string(payload.EventMessage), m.View(u.Chats[m.Chat]))
	case a.retry:
		m.StartedUS = 0
	}
	return nil
}

// Completed tells those who wait, and counts.
func (s *Sender) Completed(outs []queue.Outcome) {
	for _, o := range outs {
		a, ok := o.Data.(attempt)
		if !ok {
			continue
		}
		s.receipts.Delete(a.seq)
		s.Waits.Attempted(a.seq)
		s.Sent(a.ref.Kind, a.outcome())
		if a.receipt == nil {
			continue
		}
		s.Liveness.Ack(a.ref.ID, s.Store.Now())
		if a.ref.State == payload.StateStarting {
			s.Liveness.Touch(a.ref.ID, s.Store.Now())
		}
	}
}
