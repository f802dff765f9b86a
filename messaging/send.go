package messaging

import (
	"context"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/queue"
	"github.com/trunklinehq/trunkline/messaging/internal/attachment"
	"github.com/trunklinehq/trunkline/messaging/internal/outbox"
	"github.com/trunklinehq/trunkline/messaging/internal/render"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// SendRequest is a message to be sent.
type SendRequest struct {
	Reference provider.ReferenceID
	ChatID    string
	Content   provider.Content
	ReplyTo   string // id of a message of the chat, or ""
	Tag       string // why it may go out although the window is closed, in the network's word; "": none. Lines without tags ignore it
	Actor     Actor  // "": [ActorAPI]

	// FilesOf are the references of which a file by its id may be; nil: all of
	// the account.
	FilesOf []int64

	// ClientID is what the caller calls the message: at most 128 characters,
	// none of them a control character; "": nothing. It is in the record and in
	// every event of the message. A repeat is no error.
	ClientID string

	// IdempotencyKey makes a repeat of the same request within 24 h answer
	// with the first one's message. "": every call sends.
	IdempotencyKey string
	// Wait is how long to wait for the first attempt; 0: not at all.
	Wait time.Duration
}

// Sent is the outcome of a send.
type Sent struct {
	Message  Message
	Replayed bool // the idempotency key had been used: nothing was sent now
}

// SendCheck says what would become of a send.
type SendCheck struct {
	Allowed         bool      `json:"allowed"`
	Reason          *string   `json:"reason" doc:"The problem's code when it is not allowed."`
	SentAs          string    `json:"sentAs" doc:"The type that would go out."`
	Earliest        *UnixTime `json:"earliest"`
	WindowExpiresAt *UnixTime `json:"windowExpiresAt"`
}

// DefaultWait is how long the API waits for a first attempt.
const DefaultWait = 10 * time.Second

// Send stores a message, durably, and waits for the first attempt to hand it
// to the network. What can be refused before that is refused with nothing
// stored: [ErrNotFound], [*Invalid], or an [*Error]. A refusal by the network
// is an [*Error] too, with the id of the message that was kept. A message that
// is still on its way has the status PENDING.
func (a *Account) Send(ctx context.Context, req SendRequest) (Sent, error) {
	d, err := a.prepare(ctx, req)
	if err != nil {
		return Sent{}, err
	}
	var seq int64
	var before *sendRecord
	var stored Message
	err = a.s.store.InBatch(ctx, func(u *store.Batch) error {
		if before, err = a.sentBefore(ctx, u.Tx, d); err != nil || before != nil {
			return err
		}
		if seq, err = a.s.queueSend(ctx, u, d); err != nil {
			return err
		}
		m := u.Messages[seq]
		stored = m.View(u.Chats[m.Chat])
		return nil
	})
	if err != nil {
		return Sent{}, err
	}
	if before == nil && req.Wait <= 0 {
		return Sent{Message: stored}, nil
	}
	replayed := before != nil
	if replayed {
		seq = before.Message
		err = a.s.awaitFirst(ctx, *before)
	} else {
		a.s.waits.Attempt(ctx, seq, req.Wait)
		if m, is := d.content.(provider.Media); is && m.URL != "" {
			a.s.waits.File(ctx, seq, min(req.Wait, attachment.CopyTimeout))
		}
	}
	if err != nil {
		return Sent{}, err
	}
	m, c, err := a.s.store.Message(ctx, seq)
	if err != nil {
		return Sent{}, err
	}
	out := Sent{Message: m.View(c), Replayed: replayed}
	if !replayed {
		err = a.refusedByNetwork(ctx, m)
	}
	return out, err
}

// SendTx stores a message when tx commits; call [Service.Committed] then, but
// not in a [Sink], which may send in its transaction. It does not wait, and
// ignores Wait and IdempotencyKey.
func (a *Account) SendTx(ctx context.Context, tx *sqlx.Tx, req SendRequest) (Message, error) {
	req.IdempotencyKey = ""
	d, err := a.prepareIn(ctx, tx, req)
	if err != nil {
		return Message{}, err
	}
	u := a.s.store.Begin(tx)
	seq, err := a.s.queueSend(ctx, u, d)
	if err != nil {
		return Message{}, err
	}
	a.s.store.Queued.Store(true)
	m := u.Messages[seq]
	c := u.Chats[m.Chat]
	return m.View(c), u.Flush(ctx)
}

// queuePart stores a message of a prepared message and puts it into its chat's partition.
func (s *Service) queuePart(ctx context.Context, u *store.Batch, d preparedMessage) (int64, error) {
	u.Bounded = true
	if err := s.admit(ctx, u.Tx, d.line.Account, WantMessage, 1); err != nil {
		return 0, err
	}
	if err := u.Open(ctx, []store.Person{{Reference: d.line, Address: d.addr}}, nil); err != nil {
		return 0, err
	}
	c := u.ChatOf(store.Person{Reference: d.line, Address: d.addr})
	replyTo, err := quoted(ctx, u, d, c)
	if err != nil {
		return 0, err
	}
	now := database.Micros(u.Now)
	m := &store.Message{
		Reference: d.line.ID, Chat: c.ID, ID: d.ownID, Mine: true, Actor: d.req.Actor, Status: provider.StatusPending,
		PushName: c.Name, BizName: c.BizName, AtUS: now, CreatedUS: now, OwnID: d.ownID, ClientID: d.req.ClientID,
	}
	if d.request != d.ownID {
		m.RequestID = d.request
	}
	if d.content.Type() != d.req.Content.Type() {
		m.SentAs = d.content.Type()
	}
	content, err := aimed(ctx, u, d, c)
	if err != nil {
		return 0, err
	}
	body := d.body()
	if replyTo != "" {
		body.Context = &Quote{MessageID: replyTo}
	}
	m.Body = string(payload.MustEncode(body))
	if err := u.Add(ctx, []*store.Message{m}); err != nil {
		return 0, err
	}
	stored, err := render.EncodeContent(content, d.req.Tag)
	if err != nil {
		return 0, err
	}
	err = u.Insert(ctx, `INSERT INTO messaging_outbound (message, reference, own_id, content, reply_to, announced, tried, started_us, give_up_us,
			request_id, client_id)`,
		[]string{"BIGINT", "BIGINT", "TEXT", "TEXT", "TEXT", "BOOLEAN", "BOOLEAN", "BIGINT", "BIGINT", "TEXT", "TEXT"},
		[][]any{{m.Seq, m.Reference, m.OwnID, stored, replyTo, false, false, 0, 0, m.RequestID, m.ClientID}}, "")
	if err != nil {
		return 0, fmt.Errorf("storing what is to be sent: %w", err)
	}
	if d.req.IdempotencyKey != "" {
		if err := recordSend(ctx, u, d, m.Seq); err != nil {
			return 0, err
		}
	}
	if err := attachment.Use(ctx, u, d.content); err != nil {
		return 0, err
	}
	expectLink(u, d, m)
	if m.SentAs != "" {
		u.Questions.Ask(c, m.Seq, d.req.Content)
	}
	c.LastMessage, c.ActivityUS = max(c.LastMessage, m.Seq), max(c.ActivityUS, now)
	if d.req.Actor == ActorUser {
		c.HandoffUS = now
	}
	u.ActiveChats.Add(c)
	u.Publish(d.line.Account, m.Reference, string(EventMessage), m.View(c))
	return m.Seq, s.sends.PutTx(ctx, u.Tx, queue.JobArgs{Subscriber: store.Subscriber(m.Reference), Key: store.ChatKey(m.Reference, c.ID), Subject: outbox.SendSubject(m.Seq)})
}

// quoted is the network's id of the message that a prepared message answers.
func quoted(ctx context.Context, u *store.Batch, d preparedMessage, c *store.Chat) (string, error) {
	if d.req.ReplyTo == "" {
		return "", nil
	}
	at, err := u.Locate(ctx, []store.MessageKey{{Reference: d.line.ID, ID: d.req.ReplyTo}})
	if err != nil {
		return "", err
	}
	if len(at) == 0 || at[0].Chat != c.ID {
		return "", &Missing{Field: "context.messageId", Message: "names no message of this chat"}
	}
	return at[0].ID, nil
}
