package messaging

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/queue"
	"github.com/trunklinehq/trunkline/messaging/internal/ingest"
	"github.com/trunklinehq/trunkline/messaging/internal/outbox"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
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
		ingest.RaiseStatus(u, l, u.Messages[seq], provider.StatusRead, Failure{})
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
	return u.Store.Sends.PutTx(ctx, u.Tx, queue.JobArgs{Subscriber: store.Subscriber(l.ID), Key: store.ChatKey(l.ID, c.ID), Subject: outbox.TypingSubject(latest[0])})
}

// putRead queues the news that the messages of c up to seq were read.
func (s *Service) putRead(ctx context.Context, tx *sqlx.Tx, l store.ReferenceInfo, c *store.Chat, seq int64) error {
	if p, err := s.store.Provider(l.Kind); err != nil || !p.Capabilities().Receipts {
		return err
	}
	return s.sends.PutTx(ctx, tx, queue.JobArgs{Subscriber: store.Subscriber(l.ID), Key: store.ChatKey(l.ID, c.ID), Subject: outbox.ReadSubject(seq)})
}

// typingTTL is how long a contact's device shows that the account is writing,
// unless a message comes before.
const typingTTL = 25 * time.Second

// Typing is a chat in which the contact sees that the account is writing.
type Typing struct {
	ChatID string   `json:"chatId" example:"ana@sandbox"`
	Since  UnixTime `json:"since"`
}

// noteTyping notes what a contact's device shows from now on.
func noteTyping(ctx context.Context, u *store.Batch, c *store.Chat) error {
	_, err := u.Tx.ExecContext(ctx, `INSERT INTO messaging_typing (chat, since_us, last_message) VALUES ($1, $2, $3)
		ON CONFLICT (chat) DO UPDATE SET since_us = excluded.since_us, last_message = excluded.last_message`,
		c.ID, database.Micros(u.Now), c.LastMessage)
	if err != nil {
		return fmt.Errorf("noting that the account is writing: %w", err)
	}
	return nil
}

// Typing lists the chats in which a simulated phone shows that the account is
// writing: for 25 seconds, or until its next message is there.
func (a *Account) Typing(ctx context.Context, ref provider.ReferenceID) ([]Typing, error) {
	if _, err := a.row(ctx, a.s.db, ref); err != nil {
		return nil, err
	}
	var rows []struct {
		ChatID  string `db:"chat_id"`
		SinceUS int64  `db:"since_us"`
	}
	err := a.s.db.SelectContext(ctx, &rows, `SELECT c.chat_id, t.since_us FROM messaging_typing t JOIN messaging_chat c ON c.id = t.chat
		WHERE c.reference = $1 AND t.since_us > $2 AND NOT EXISTS (SELECT 1 FROM messaging_message m
			WHERE m.chat = t.chat AND m.past_us = 0 AND m.seq > t.last_message AND m.mine AND m.status NOT IN ($3, $4))
		ORDER BY t.since_us DESC, c.id LIMIT 200`,
		ref, database.Micros(a.s.now().Add(-typingTTL)), int(provider.StatusPending), int(provider.StatusFail))
	if err != nil {
		return nil, fmt.Errorf("listing where the account is writing: %w", err)
	}
	out := make([]Typing, len(rows))
	for i, r := range rows {
		out[i] = Typing{r.ChatID, payload.TimeOf(r.SinceUS)}
	}
	return out, nil
}
