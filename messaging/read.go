package messaging

import (
	"context"
	"fmt"
	"slices"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/queue"
	"github.com/trunklinehq/trunkline/messaging/internal/refusal"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

// MarkRead marks a chat's messages read, up to messageID or all when that is
// "", and tells the network. It returns the number of unread messages left.
func (a *Account) MarkRead(ctx context.Context, ref provider.ReferenceID, chatID, messageID string) (int64, error) {
	return a.markRead(ctx, ref, chatID, messageID, false)
}

// MarkReadTyping is [Account.MarkRead], and shows the contact that an answer
// is being written, where the reference can.
func (a *Account) MarkReadTyping(ctx context.Context, ref provider.ReferenceID, chatID, messageID string) (int64, error) {
	return a.markRead(ctx, ref, chatID, messageID, true)
}

// ShowTyping shows the contact that an answer is being written, where the reference
// can. What is unread here stays so.
func (a *Account) ShowTyping(ctx context.Context, ref provider.ReferenceID, chatID string) error {
	row, p, err := a.opened(ctx, ref)
	if err != nil || !p.Capabilities().Typing {
		return err
	}
	addr, err := a.s.recipients.Address(ctx, a.s.db, row.ID, p, chatID)
	if err != nil {
		return err
	}
	l := row.Info(p)
	return a.s.store.InBatch(ctx, func(u *store.Batch) error {
		c, err := store.LockChat(ctx, u, l, addr)
		if err != nil {
			return err
		}
		return putTyping(ctx, u, l, c)
	})
}

func (a *Account) markRead(ctx context.Context, ref provider.ReferenceID, chatID, messageID string, typing bool) (int64, error) {
	row, p, err := a.opened(ctx, ref)
	if err != nil {
		return 0, err
	}
	addr, err := a.s.recipients.Address(ctx, a.s.db, row.ID, p, chatID)
	if err != nil {
		return 0, err
	}
	l, messageID := row.Info(p), store.Sanitize(messageID)
	var left int64
	err = a.s.store.InBatch(ctx, func(u *store.Batch) error {
		left = 0
		return a.s.read(ctx, u, l, addr, messageID, typing && p.Capabilities().Typing, &left)
	})
	return left, err
}

// read marks the messages of one chat.
func (s *Service) read(ctx context.Context, u *store.Batch, l store.ReferenceInfo, addr provider.Address, messageID string, typing bool, left *int64) error {
	c, err := store.LockChat(ctx, u, l, addr)
	if err != nil {
		return err
	}
	upTo := c.LastMessage
	if messageID != "" {
		at, err := u.Locate(ctx, []store.MessageKey{{Reference: l.ID, ID: messageID}})
		if err != nil {
			return err
		}
		if len(at) == 0 || at[0].Chat != c.ID {
			return ErrNotFound
		}
		if upTo = at[0].Seq; at[0].Past < 0 {
			upTo = 0 // imported history is before all that can be unread
		}
	}
	var seqs []int64
	err = u.Tx.SelectContext(ctx, &seqs, `SELECT seq FROM messaging_message WHERE chat = $1 AND past_us = 0 AND seq <= $2 AND NOT mine AND status < $3
		ORDER BY seq DESC LIMIT 1000`, c.ID, upTo, int(provider.StatusRead))
	if err != nil {
		return fmt.Errorf("finding unread messages: %w", err)
	}
	if err := u.Load(ctx, slices.Clone(seqs)); err != nil {
		return err
	}
	slices.Sort(seqs)
	for _, seq := range seqs {
		raiseStatus(u, l, u.Messages[seq], provider.StatusRead, Failure{})
	}
	if upTo == c.LastMessage {
		c.Unread = 0
	}
	*left = c.Unread
	u.ActiveChats.Add(c)
	if typing {
		return putTyping(ctx, u, l, c)
	}
	if len(seqs) == 0 {
		return nil
	}
	return s.putRead(ctx, u.Tx, l, c, seqs[len(seqs)-1])
}

// putTyping queues the news that an answer to the contact's latest message is
// being written, which says that it was read as well.
func putTyping(ctx context.Context, u *store.Batch, l store.ReferenceInfo, c *store.Chat) error {
	var latest []int64
	err := u.Tx.SelectContext(ctx, &latest, `SELECT seq FROM messaging_message WHERE chat = $1 AND past_us = 0 AND NOT mine ORDER BY seq DESC LIMIT 1`, c.ID)
	if err != nil || len(latest) == 0 {
		return err
	}
	if err := noteTyping(ctx, u, c); err != nil {
		return err
	}
	return u.Store.Sends.PutTx(ctx, u.Tx, queue.JobArgs{Subscriber: store.Subscriber(l.ID), Key: store.ChatKey(l.ID, c.ID), Subject: typingSubject(latest[0])})
}

// putRead queues the news that the messages of c up to seq were read.
func (s *Service) putRead(ctx context.Context, tx *sqlx.Tx, l store.ReferenceInfo, c *store.Chat, seq int64) error {
	if p, err := s.kind(l.Kind); err != nil || !p.Capabilities().Receipts {
		return err
	}
	return s.sends.PutTx(ctx, tx, queue.JobArgs{Subscriber: store.Subscriber(l.ID), Key: store.ChatKey(l.ID, c.ID), Subject: readSubject(seq)})
}

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
func (s *Service) sendRead(ctx context.Context, it queue.Job, j *job, typing bool) queue.Outcome {
	out := queue.Outcome{Job: it, Result: queue.Done}
	if j.ref.State == StateLoggedOut || it.Attempt >= readTries {
		return out
	}
	sess, err := s.sessions.get(ctx, s, j.ref)
	r, reads := sess.(provider.Reader)
	t, types := sess.(provider.Typist)
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
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
