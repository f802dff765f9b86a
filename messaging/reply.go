package messaging

import (
	"context"
	"sync/atomic"

	"github.com/trunklinehq/trunkline/messaging/internal/handler"
	"github.com/trunklinehq/trunkline/messaging/internal/outbox"
	"github.com/trunklinehq/trunkline/provider"
)

// Replier answers one message of a contact: see [Options].OnMessage. Its methods are
// safe for concurrent use.
//
// Answers are numbered in the order of the calls. If OnMessage is called again for the
// message, an answer that was sent before is not sent again, even if it has other words
// now: the call returns the message of the first time.
type Replier struct {
	account *Account
	to      handler.Inbound
	sent    atomic.Int64
}

// Account returns the account whose reference received the message.
func (r *Replier) Account() *Account { return r.account }

// Text answers with a text. When it returns nil the answer is stored and will be sent.
func (r *Replier) Text(ctx context.Context, text string) error {
	_, err := r.Send(ctx, SendRequest{Content: provider.Text{Text: text}})
	return err
}

// Send is [Account.Send] into the chat of the message: it sets Reference, ChatID and
// IdempotencyKey of the request. The default Actor is [ActorBot].
func (r *Replier) Send(ctx context.Context, req SendRequest) (Sent, error) {
	req.Reference, req.ChatID = r.to.Message.Reference, r.to.Message.ChatID
	if req.Actor == "" {
		req.Actor = ActorBot
	}
	n := int(r.sent.Add(1))
	m, replayed, err := r.account.s.writer.Reply(ctx, r.account.id, r.to.Seq, n, outbox.Request(req))
	return Sent{Message: m, Replayed: replayed}, err
}

// handle calls Options.OnMessage.
func (s *Service) handle(ctx context.Context, in handler.Inbound) error {
	return s.opts.OnMessage(ctx, in.Message, &Replier{account: s.For(in.Account), to: in})
}
