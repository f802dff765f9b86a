package messaging

import (
	"context"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/queue"
	"github.com/trunklinehq/trunkline/provider"
)

// settleSends records what attempts found out, in the transaction that
// finishes them.
func (s *Service) settleSends(ctx context.Context, tx *sqlx.Tx, outs []queue.Outcome) error {
	u := s.newBatch(tx)
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
	if err := u.loadLocked(ctx, seqs); err != nil {
		return err
	}
	for _, seq := range seqs {
		m := u.messages[seq]
		if m == nil {
			continue // deleted meanwhile
		}
		l, err := s.referenceInfo(ctx, tx, m.Reference)
		if err != nil {
			return err
		}
		u.traceparent = attempts[seq].parent
		if err := u.settle(ctx, l, m, attempts[seq]); err != nil {
			return err
		}
	}
	return u.flush(ctx)
}

// contactNamed gives a message the id that the network chose for it, unless another
// message has that id already.
func (u *batch) contactNamed(ctx context.Context, m *messageRow, id string) error {
	if id = sanitize(id); id == "" || id == m.ID || len(id) > maxTextLength {
		return nil
	}
	at, err := u.locate(ctx, []messageKey{{m.Reference, id}})
	if err != nil || len(at) > 0 {
		return err
	}
	m.ID = id
	return nil
}

// settle applies one attempt.
func (u *batch) settle(ctx context.Context, l referenceInfo, m *messageRow, a attempt) error {
	m.Tried = true
	u.recordAttempt(m, a)
	if a.receipt != nil && a.receipt.To != nil {
		if err := u.link(ctx, l, u.chats[m.Chat], sanitizeAddress(*a.receipt.To)); err != nil {
			return err
		}
	}
	if m.Announced {
		return nil // a status was faster
	}
	switch {
	case a.receipt != nil:
		m.SentUS = database.Micros(u.now)
		if err := u.contactNamed(ctx, m, a.receipt.MessageID); err != nil {
			return err
		}
		u.announce(l, u.chats[m.Chat], m, provider.StatusSending, Failure{})
		return u.takeEarlyStatus(ctx, l, m)
	case a.failed != nil:
		m.StartedUS = 0
		u.withdrawQuestion(u.chats[m.Chat], m.Seq)
		u.announce(l, u.chats[m.Chat], m, provider.StatusFail, failureOf(*a.failed))
		if a.failed.Code == codeNoTemplate {
			return u.templateUnknown(ctx, m)
		}
	case a.doubt:
		m.SentUS = database.Micros(u.now)
		m.fails(Failure{Code: "unconfirmed", Message: "The network did not confirm the message. It may have been sent."})
		m.GiveUpUS = database.Micros(u.now.Add(confirmTimeout))
		u.publish(l.Account, m.Reference, string(EventMessage), m.view(u.chats[m.Chat]))
	case a.retry:
		m.StartedUS = 0
	}
	return nil
}

// settledSends tells those who wait, and counts.
func (s *Service) settledSends(outs []queue.Outcome) {
	told := false
	for _, o := range outs {
		a, ok := o.Data.(attempt)
		if !ok {
			continue
		}
		told = true
		s.receipts.Delete(a.seq)
		s.attemptOver(a.seq)
		s.opts.Observer.sent(a.ref.Kind, a.outcome())
		if a.receipt == nil {
			continue
		}
		s.health.ack(a.ref.ID, s.now())
		if a.ref.State == StateStarting {
			s.health.touch(a.ref.ID, s.now())
		}
	}
	if told {
		s.Committed()
	}
}
