package messaging

import (
	"context"
	"encoding/json"
	"time"

	"github.com/trunklinehq/trunkline/messaging/internal/outbox"
	"github.com/trunklinehq/trunkline/messaging/internal/render"
	"github.com/trunklinehq/trunkline/provider"
)

// SendRequest is a message to be sent.
type SendRequest struct {
	Reference provider.ReferenceID
	ChatID    string
	Content   provider.Content
	ReplyTo   string // id of a message of the chat, or ""
	Tag       string // why it may go out although the window is closed, in the network's word; "": none. References without tags ignore it
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
	Reason          *string   `json:"reason" doc:"Code of the problem if the send is not allowed."`
	SentAs          string    `json:"sentAs" doc:"Type of the message that would be sent."`
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
	m, replayed, err := a.s.writer.Send(ctx, a.id, outbox.Request(req))
	return Sent{Message: m, Replayed: replayed}, err
}

// SendTx stores a message when tx commits. It does not wait, and ignores Wait and
// IdempotencyKey.
func (a *Account) SendTx(ctx context.Context, on Tx, req SendRequest) (Message, error) {
	b, err := a.s.BatchTx(on)
	if err != nil {
		return Message{}, err
	}
	m, err := b.Send(ctx, a.id, req)
	if err != nil {
		return Message{}, err
	}
	return m, b.Flush(ctx)
}

// Check says what would become of a send, without sending.
func (a *Account) Check(ctx context.Context, req SendRequest) (SendCheck, error) {
	c, err := a.s.writer.Check(ctx, a.id, outbox.Request(req))
	return SendCheck(c), err
}

// ContentTypes lists the types that [DecodeContent] reads.
func ContentTypes() []string { return render.ContentTypes() }

// DecodeContent reads a `message` as the API takes it: an object with its
// type and the members of that type, and a tag, which is for [DecodeTag]. It
// returns an [*Invalid] that names what is wrong.
func DecodeContent(raw json.RawMessage) (provider.Content, error) { return render.DecodeContent(raw) }

// DecodeTag reads the tag of a `message`: [SendRequest.Tag].
func DecodeTag(raw json.RawMessage) (string, error) { return render.DecodeTag(raw) }

// IncomingTypes lists the types that [DecodeIncoming] reads.
func IncomingTypes() []string { return render.IncomingTypes() }

// DecodeIncoming reads what a simulated contact writes, in the form that
// [DecodeContent] takes.
func DecodeIncoming(raw json.RawMessage) (provider.Content, error) { return render.DecodeIncoming(raw) }
