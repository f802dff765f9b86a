package outbox

import (
	"context"
	"fmt"
	"slices"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/queue"
	"github.com/trunklinehq/trunkline/messaging/internal/ingest"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// MarkRead marks the messages of a chat as read up to messageID, or all of them
// when that is "", and queues the receipt for the network. With typing, it queues
// also that an answer is being written. It returns how many messages are unread.
func MarkRead(ctx context.Context, u *store.Batch, l store.ReferenceInfo, addr provider.Address, messageID string, typing bool) (int64, error) {
	c, err := store.LockChat(ctx, u, l, addr)
	if err != nil {
		return 0, err
	}
	upTo := c.LastMessage
	if messageID != "" {
		at, err := u.Locate(ctx, []store.MessageKey{{Reference: l.ID, ID: messageID}})
		if err != nil {
			return 0, err
		}
		if len(at) == 0 || at[0].Chat != c.ID {
			return 0, payload.ErrNotFound
		}
		if upTo = at[0].Seq; at[0].Past < 0 {
			upTo = 0 // imported history is before all that can be unread
		}
	}
	var seqs []int64
	err = u.Tx.SelectContext(ctx, &seqs, `SELECT seq FROM messaging_message WHERE chat = $1 AND past_us = 0 AND seq <= $2 AND NOT mine AND status < $3
		ORDER BY seq DESC LIMIT 1000`, c.ID, upTo, int(provider.StatusRead))
	if err != nil {
		return 0, fmt.Errorf("finding unread messages: %w", err)
	}
	if err := u.Load(ctx, slices.Clone(seqs)); err != nil {
		return 0, err
	}
	slices.Sort(seqs)
	for _, seq := range seqs {
		ingest.RaiseStatus(u, l, u.Messages[seq], provider.StatusRead, payload.Failure{})
	}
	if upTo == c.LastMessage {
		c.Unread = 0
	}
	u.ActiveChats.Add(c)
	if typing {
		return c.Unread, ShowTyping(ctx, u, l, c)
	}
	if len(seqs) == 0 {
		return c.Unread, nil
	}
	return c.Unread, putRead(ctx, u, l, c, seqs[len(seqs)-1])
}

// ShowTyping queues for the network that an answer to the latest message of the
// contact is being written, which says also that it was read.
func ShowTyping(ctx context.Context, u *store.Batch, l store.ReferenceInfo, c *store.Chat) error {
	var latest []int64
	err := u.Tx.SelectContext(ctx, &latest, `SELECT seq FROM messaging_message WHERE chat = $1 AND past_us = 0 AND NOT mine ORDER BY seq DESC LIMIT 1`, c.ID)
	if err != nil || len(latest) == 0 {
		return err
	}
	if err := noteTyping(ctx, u, c); err != nil {
		return err
	}
	return u.Store.Sends.PutTx(ctx, u.Tx, queue.JobArgs{Subscriber: store.Subscriber(l.ID), Key: store.ChatKey(l.ID, c.ID), Subject: TypingSubject(latest[0])})
}

// putRead queues for the network that the messages of c up to seq were read.
func putRead(ctx context.Context, u *store.Batch, l store.ReferenceInfo, c *store.Chat, seq int64) error {
	if p, err := u.Store.Provider(l.Kind); err != nil || !p.Capabilities().Receipts {
		return err
	}
	return u.Store.Sends.PutTx(ctx, u.Tx, queue.JobArgs{Subscriber: store.Subscriber(l.ID), Key: store.ChatKey(l.ID, c.ID), Subject: ReadSubject(seq)})
}

// noteTyping stores that a contact's device shows typing from now on.
func noteTyping(ctx context.Context, u *store.Batch, c *store.Chat) error {
	_, err := u.Tx.ExecContext(ctx, `INSERT INTO messaging_typing (chat, since_us, last_message) VALUES ($1, $2, $3)
		ON CONFLICT (chat) DO UPDATE SET since_us = excluded.since_us, last_message = excluded.last_message`,
		c.ID, database.Micros(u.Now), c.LastMessage)
	if err != nil {
		return fmt.Errorf("noting that the account is writing: %w", err)
	}
	return nil
}
