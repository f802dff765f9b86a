package messaging

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/lane"
	"github.com/trunklinehq/trunkline/provider"
)

// SendRequest is a message to be sent.
type SendRequest struct {
	Reference provider.ReferenceID
	ChatID    string
	Content   provider.Content
	ReplyTo   string // id of a message of the chat, or ""
	Actor     Actor  // "": [ActorAPI]

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
	d, err := a.draft(ctx, req)
	if err != nil {
		return Sent{}, err
	}
	var seq int64
	var replayed bool
	err = a.s.inTxUnit(ctx, func(u *unit) error {
		replayed = false
		if d.req.IdempotencyKey != "" {
			if seq, err = a.remembered(ctx, u.tx, d); err != nil || seq != 0 {
				replayed = true
				return err
			}
		}
		seq, err = a.s.queueSend(ctx, u, d)
		return err
	})
	if err != nil {
		return Sent{}, err
	}
	a.s.awaitAttempt(ctx, seq, req.Wait)
	m, c, err := a.s.message(ctx, seq)
	if err != nil {
		return Sent{}, err
	}
	out := Sent{Message: m.view(c), Replayed: replayed}
	if !replayed {
		err = a.refusedByNetwork(ctx, m)
	}
	return out, err
}

// SendTx stores a message when tx commits; call [Service.Committed] then. It
// does not wait, and ignores Wait and IdempotencyKey.
func (a *Account) SendTx(ctx context.Context, tx *sqlx.Tx, req SendRequest) (Message, error) {
	req.IdempotencyKey = ""
	d, err := a.draftIn(ctx, tx, req)
	if err != nil {
		return Message{}, err
	}
	u := a.s.unit(tx)
	u.foreign = true
	seq, err := a.s.queueSend(ctx, u, d)
	if err != nil {
		return Message{}, err
	}
	m := u.messages[seq]
	c := u.chats[m.Chat]
	return m.view(c), u.flush(ctx)
}

// Check says what would become of a send, without sending.
func (a *Account) Check(ctx context.Context, req SendRequest) (SendCheck, error) {
	d, err := a.draft(ctx, req)
	var refused *Error
	if err != nil && !errors.As(err, &refused) {
		return SendCheck{}, err
	}
	if err := a.checkQuote(ctx, d); err != nil {
		return SendCheck{}, err
	}
	out := SendCheck{Allowed: err == nil, SentAs: d.content.Type(), WindowExpiresAt: optionalTime(d.windowUS)}
	if refused != nil {
		out.Reason = &refused.Code
	}
	return out, nil
}

// validate asks the network's own limits, where the provider knows them.
func validate(p provider.Provider, c provider.Content) error {
	v, ok := p.(provider.Validator)
	if !ok {
		return nil
	}
	err := v.Validate(c)
	var bad *provider.Invalid
	if errors.As(err, &bad) {
		return &Invalid{bad.Field, bad.Message}
	}
	if err != nil {
		return &Error{Code: CodeUnsupported, Message: failure(err).Message}
	}
	return nil
}

// checkQuote refuses a draft that answers no message of its chat.
func (a *Account) checkQuote(ctx context.Context, d draft) error {
	if d.req.ReplyTo == "" {
		return nil
	}
	c, err := a.s.chat(ctx, a.s.db, d.line.ID, d.addr)
	if errors.Is(err, ErrNotFound) {
		c, err = &chatRow{}, nil // one without messages
	}
	if err != nil {
		return err
	}
	return a.s.db.InTx(ctx, func(tx *sqlx.Tx) error {
		_, err := a.s.unit(tx).quoted(ctx, d, c)
		return err
	})
}

// draft is a send that passed every check that needs no transaction.
type draft struct {
	req      SendRequest
	line     line
	provider provider.Provider
	addr     provider.Address
	content  provider.Content // what will be sent
	windowUS int64
}

func (a *Account) draft(ctx context.Context, req SendRequest) (draft, error) {
	return a.draftIn(ctx, a.s.db, req)
}

// draftIn checks a send. On an [*Error] the draft holds what was found.
func (a *Account) draftIn(ctx context.Context, q sqlx.QueryerContext, req SendRequest) (draft, error) {
	row, err := a.row(ctx, q, req.Reference)
	if err != nil {
		return draft{}, err
	}
	p, err := a.s.kind(row.Kind)
	if err != nil {
		return draft{}, err
	}
	if req.Content == nil {
		return draft{}, &Invalid{"message", "is required"}
	}
	if err := checkContent(req.Content); err != nil {
		return draft{}, err
	}
	req.ReplyTo = clean(req.ReplyTo)
	if req.Actor == "" {
		req.Actor = ActorAPI
	}
	d := draft{req: req, line: row.line(p), provider: p, content: req.Content}
	if d.addr, err = address(p, req.ChatID); err != nil {
		return d, err
	}
	if c, err := a.s.chat(ctx, q, row.ID, d.addr); err == nil {
		d.windowUS = c.WindowUS
	} else if !errors.Is(err, ErrNotFound) {
		return d, err
	}
	if !slices.Contains(p.Capabilities().Send, req.Content.Type()) {
		text, ok := asText(req.Content)
		if !ok {
			return d, &Error{Code: CodeUnsupported, Message: fmt.Sprintf("A %s line cannot send the type %s.", row.Kind, req.Content.Type())}
		}
		d.content = text
	}
	if err := validate(p, d.content); err != nil {
		return d, err
	}
	switch row.State {
	case StateLoggedOut, StateFailed, StateStopped:
		return d, &Error{Code: CodeSessionNotConnected, Message: "The session of this reference is " + string(row.State) + ": start it first."}
	}
	if closed := d.line.Window > 0 && d.windowUS < database.Micros(a.s.now()); closed && req.Content.Type() != "template" {
		return d, &Error{
			Code:    CodeWindowClosed,
			Message: "The contact has not written within the window in which free-form messages may be sent. Send an approved template instead: a message of type template.",
		}
	}
	return d, nil
}

// address normalises a chat id.
func address(p provider.Provider, chatID string) (provider.Address, error) {
	addr, err := p.Address(clean(chatID))
	var bad *provider.BadRecipient
	if errors.As(err, &bad) {
		return addr, &Invalid{"chatId", bad.Message}
	}
	if err != nil {
		return addr, fmt.Errorf("reading a chat id: %w", err)
	}
	return addr, nil
}

// queueSend stores the message of a draft and puts it into its chat's lane.
func (s *Service) queueSend(ctx context.Context, u *unit, d draft) (int64, error) {
	if err := u.open(ctx, []person{{d.line, d.addr}}, nil); err != nil {
		return 0, err
	}
	c := u.chatOf(person{d.line, d.addr})
	replyTo, err := u.quoted(ctx, d, c)
	if err != nil {
		return 0, err
	}
	now := database.Micros(u.now)
	own := "out-" + newID()
	m := &messageRow{
		Reference: d.line.ID, Chat: c.ID, ID: own, Mine: true, Actor: d.req.Actor, Status: provider.StatusPending,
		PushName: c.Name, BizName: c.BizName, AtUS: now, CreatedUS: now, OwnID: own,
	}
	if i, ok := d.provider.(provider.Identifier); ok {
		m.ID = i.NewMessageID()
	}
	if d.content.Type() != d.req.Content.Type() {
		m.SentAs = d.content.Type()
	}
	body := words(d.req.Content)
	if replyTo != "" {
		body.Context = &Quote{MessageID: replyTo}
	}
	m.Body = string(mustJSON(body))
	if err := u.add(ctx, []*messageRow{m}); err != nil {
		return 0, err
	}
	content, err := encodeContent(d.content)
	if err != nil {
		return 0, err
	}
	err = u.insert(ctx, `INSERT INTO messaging_outbound (message, reference, own_id, content, reply_to, announced, tried, started_us, give_up_us)`,
		[]string{"BIGINT", "BIGINT", "TEXT", "TEXT", "TEXT", "BOOLEAN", "BOOLEAN", "BIGINT", "BIGINT"}, [][]any{{m.Seq, m.Reference, own, content, replyTo, false, false, 0, 0}}, "")
	if err != nil {
		return 0, fmt.Errorf("storing what is to be sent: %w", err)
	}
	if d.req.IdempotencyKey != "" {
		if err := remember(ctx, u, d, m.Seq); err != nil {
			return 0, err
		}
	}
	c.LastMessage, c.ActivityUS = max(c.LastMessage, m.Seq), max(c.ActivityUS, now)
	if d.req.Actor == ActorUser {
		c.HandoffUS = now
	}
	u.activeChats.add(c)
	u.tell(d.line.Account, m.Reference, string(EventMessage), m.view(c))
	return m.Seq, s.sends.PutTx(ctx, u.tx, lane.Entry{Consumer: consumer(m.Reference), Key: chatKey(m.Reference, c.ID), Subject: sendSubject(m.Seq)})
}

// quoted is the network's id of the message that a draft answers.
func (u *unit) quoted(ctx context.Context, d draft, c *chatRow) (string, error) {
	if d.req.ReplyTo == "" {
		return "", nil
	}
	at, err := u.locate(ctx, []messageKey{{d.line.ID, d.req.ReplyTo}})
	if err != nil {
		return "", err
	}
	if len(at) == 0 || at[0].Chat != c.ID {
		return "", &Invalid{"context.messageId", "names no message of this chat"}
	}
	return at[0].ID, nil
}

// consumer is the lane consumer of a reference's sends.
func consumer(id provider.ReferenceID) string { return fmt.Sprintf("%d", id) }

// inTxUnit runs fn with a unit of its own and tells the workers afterwards.
func (s *Service) inTxUnit(ctx context.Context, fn func(u *unit) error) error {
	err := s.inTx(ctx, func(tx *sqlx.Tx) error {
		u := s.unit(tx)
		if err := fn(u); err != nil {
			return err
		}
		return u.flush(ctx)
	})
	if err == nil {
		s.Committed()
	}
	return err
}
