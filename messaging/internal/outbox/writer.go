package outbox

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/span"
	"github.com/trunklinehq/trunkline/messaging/internal/attachment"
	"github.com/trunklinehq/trunkline/messaging/internal/recipient"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/internal/template"
	"github.com/trunklinehq/trunkline/messaging/internal/wait"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// Writer checks messages and stores them, to be sent by a [Sender]. Its fields
// are set before first use.
type Writer struct {
	Store      *store.Store
	Recipients *recipient.Resolver
	Files      *attachment.Files
	Templates  *template.Copies
	Sender     *Sender
	Waits      *wait.Waiters
	Trace      span.Hook
	// Admit refuses a message over the quota of an account.
	Admit func(ctx context.Context, tx *database.Tx, account string) error
}

// Request is a message to be sent, as the public type of package messaging
// describes it.
type Request struct {
	Reference provider.ReferenceID
	ChatID    string
	Content   provider.Content
	ReplyTo   string
	Tag       string
	Actor     payload.Actor

	FilesOf []int64

	ClientID string

	IdempotencyKey string
	Wait           time.Duration
}

// Send stores a message and waits for the first attempt to send it. With the
// idempotency key of an earlier request it returns the message of that one and
// replayed. When the network refuses the message, Send returns it together with
// an error.
func (w *Writer) Send(ctx context.Context, account string, req Request) (out payload.Message, replayed bool, err error) {
	d, err := w.prepare(ctx, w.Store.DB, nil, account, req)
	if err != nil {
		return out, false, err
	}
	return w.send(ctx, account, d)
}

// Reply sends the n-th answer, from 1, to a message of a contact. If that answer was
// sent before, Reply returns the message of the first time and replayed, even if the
// request is a different one now or would be refused.
func (w *Writer) Reply(ctx context.Context, account string, to int64, n int, req Request) (out payload.Message, replayed bool, err error) {
	req.IdempotencyKey = fmt.Sprintf("reply %d %d", to, n) // the space keeps it apart from the keys of requests
	switch seq, sent, err := w.repliedBefore(ctx, account, req.IdempotencyKey); {
	case err != nil:
		return out, false, err
	case sent:
		m, c, err := w.Store.Message(ctx, seq)
		if err != nil {
			return out, false, err
		}
		return m.View(c), true, nil
	}
	d, err := w.prepare(ctx, w.Store.DB, nil, account, req)
	if err != nil {
		return out, false, err
	}
	d.reply = true
	return w.send(ctx, account, d)
}

func (w *Writer) send(ctx context.Context, account string, d prepared) (out payload.Message, replayed bool, err error) {
	req := d.req
	var seq int64
	var before *sendRecord
	var first *wait.Waiter
	defer func() { first.Leave() }()
	err = w.Store.InBatch(ctx, func(u *store.Batch) error {
		if before, err = sentBefore(ctx, u.Tx, d); err != nil || before != nil {
			return err
		}
		m, err := w.queueSend(ctx, u, d)
		if err == nil {
			err = u.WriteOutgoing(ctx)
		}
		if err == nil && d.req.IdempotencyKey != "" {
			err = recordSend(ctx, u, d, m.Seq)
		}
		if err != nil {
			return err
		}
		seq = m.Seq
		if req.Wait > 0 {
			first.Leave() // of a transaction that is begun again
			first = w.Waits.Expect(seq)
		}
		out = m.View(u.Chats[m.Chat])
		return nil
	})
	if err != nil {
		return payload.Message{}, false, err
	}
	replayed = before != nil
	if !replayed && req.Wait <= 0 {
		return out, false, nil
	}
	if replayed {
		seq = before.Message
		err = w.awaitFirst(ctx, *before)
	} else {
		first.Wait(ctx, req.Wait)
		if m, is := d.content.(provider.Media); is && m.URL != "" {
			w.Waits.File(ctx, seq, min(req.Wait, attachment.CopyTimeout))
		}
	}
	if err != nil {
		return payload.Message{}, false, err
	}
	m, c, err := w.Store.Message(ctx, seq)
	if err != nil {
		return payload.Message{}, false, err
	}
	if !replayed {
		err = w.refusedByNetwork(ctx, account, m)
	}
	return m.View(c), replayed, err
}

// SendIn has a batch store a message. It ignores Wait and IdempotencyKey.
func (w *Writer) SendIn(ctx context.Context, u *store.Batch, account string, req Request) (payload.Message, error) {
	req.IdempotencyKey = ""
	d, err := w.prepare(ctx, u.Tx, u, account, req)
	if err != nil {
		return payload.Message{}, err
	}
	m, err := w.queueSend(ctx, u, d)
	if err != nil {
		return payload.Message{}, err
	}
	return m.View(u.Chats[m.Chat]), nil
}

// queueSend has a batch store the messages of a prepared one, to be sent, and returns
// the one that the send answers with. It does so within a span, which has no ids of
// chats and no id that a network chose: they may contain phone numbers.
func (w *Writer) queueSend(ctx context.Context, u *store.Batch, d prepared) (*store.Message, error) {
	ctx, queued := span.Begin(ctx, w.Trace, "messaging.queue")
	u.Traceparent = span.Of(ctx)
	m, err := w.queueParts(ctx, u, d)
	if queued != nil {
		queued.Set(slog.Int64("reference", int64(d.ref.ID)))
		queued.Set(slog.String("kind", string(d.ref.Kind)))
		queued.Set(slog.String("type", d.content.Type()))
		if m != nil {
			queued.Set(slog.String("message", w.Sender.OwnID(d.row, m)))
		}
		queued.End(err != nil)
	}
	return m, err
}
