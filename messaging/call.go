package messaging

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"

	"github.com/trunklinehq/trunkline/internal/text"
	"github.com/trunklinehq/trunkline/messaging/internal/connection"
	"github.com/trunklinehq/trunkline/messaging/internal/outbox"
	"github.com/trunklinehq/trunkline/messaging/internal/refusal"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

// Call is a call of a contact.
type Call struct {
	Reference provider.ReferenceID `json:"reference"`
	ChatID    string               `json:"chatId"`
	ID        string               `json:"id" doc:"Id of the call, as in its events."`
	Status    provider.CallStatus  `json:"status" enum:"ringing,accepted,rejected,missed,ended"`
}

// Calls are the calls of the references of an account.
type Calls Account

// Calls returns the calls of the account.
func (a *Account) Calls() *Calls { return (*Calls)(a) }

// Reject rejects a call that rings in the chat of a person, and returns the call
// as it is then: the caller may have hung up at the same time. A call that is
// rejected already stays so. A call that has ended otherwise is an [*Error] with
// [CodeConflict], one that the chat does not have is a [*Missing], and a kind of
// reference that cannot reject calls is an [*Error] with [CodeUnsupported].
func (a *Calls) Reject(ctx context.Context, ref provider.ReferenceID, chatID, callID string) (Call, error) {
	row, p, err := a.s.store.Opened(ctx, a.s.db, a.id, ref)
	if err != nil {
		return Call{}, err
	}
	if !p.Capabilities().Calls {
		return Call{}, &Error{Code: CodeUnsupported, Message: "A reference of type " + string(row.Kind) + " cannot reject calls."}
	}
	chat, err := a.s.recipients.Address(ctx, a.s.db, row.ID, p, chatID)
	if err != nil {
		return Call{}, err
	}
	c, err := a.s.store.ChatByAddress(ctx, a.s.db, row.ID, chat)
	if err != nil {
		return Call{}, err
	}
	out := Call{Reference: row.ID, ChatID: c.ChatID, ID: text.Sanitize(callID)}
	if out.Status, err = a.status(ctx, row.ID, c.ID, out.ID); err != nil {
		return Call{}, err
	}
	switch {
	case out.Status == provider.CallRejected:
		return out, nil
	case out.Status != provider.CallRinging:
		return Call{}, &Error{Code: CodeConflict, Field: "callId", Message: "The call does not ring any more: it is " + string(out.Status) + "."}
	case c.IsGroup:
		return Call{}, &Error{Code: CodeUnsupported, Message: "Calls of groups cannot be rejected."}
	}
	if err := a.reject(ctx, row, c.Address(), out.ID); err != nil {
		return Call{}, err
	}
	out.Status, err = a.status(ctx, row.ID, c.ID, out.ID)
	return out, err
}

// reject has the network reject a call, and stores that it is rejected.
func (a *Calls) reject(ctx context.Context, row *store.Reference, chat provider.Address, callID string) error {
	if err := refusal.CheckUsable(row); err != nil {
		return err
	}
	sess, err := a.s.connections.Reach(ctx, row)
	if err != nil {
		return err
	}
	network, ok := sess.(provider.CallRejecter)
	if !ok {
		return &Error{Code: CodeUnsupported, Message: "A reference of type " + string(row.Kind) + " cannot reject calls."}
	}
	calling, cancel := context.WithTimeout(ctx, connection.CallTimeout)
	defer cancel()
	if err := network.RejectCall(calling, chat, callID); err != nil {
		return refusal.OfCall(ctx, err)
	}
	return a.s.inbox.Receive(context.WithoutCancel(ctx), row.ID, []provider.Event{&provider.Call{
		Raw:    provider.Raw{Kind: "call", ID: callID + ":" + string(provider.CallRejected)},
		CallID: callID, Chat: chat, From: provider.Contact{Address: chat}, At: a.s.now(),
		Status: provider.CallRejected, RejectedBy: provider.RejectedByAPI,
	}})
}

// status returns how far a call of a chat has come.
func (a *Calls) status(ctx context.Context, ref provider.ReferenceID, chat int64, callID string) (status provider.CallStatus, err error) {
	err = a.s.db.GetContext(ctx, &status, `SELECT status FROM messaging_call WHERE reference = $1 AND call_id = $2 AND chat = $3`, ref, callID, chat)
	if errors.Is(err, sql.ErrNoRows) {
		return "", &Missing{Field: "callId", Message: "must be the id of a call in this chat"}
	}
	if err != nil {
		return "", fmt.Errorf("reading a call: %w", err)
	}
	return status, nil
}

// replyToCall has a batch answer the caller of a call that was rejected. An
// answer that cannot be sent does not keep the call from being stored.
func (s *Service) replyToCall(ctx context.Context, u *store.Batch, l store.ReferenceInfo, chatID, reply string) error {
	_, err := s.writer.SendIn(ctx, u, l.Account, outbox.Request{
		Reference: l.ID, ChatID: chatID, Content: provider.Text{Text: reply}, Actor: ActorBot,
	})
	if why, refused := Refused(err); refused {
		s.opts.Logger.WarnContext(ctx, "a rejected call is not answered", slog.Int64("reference", int64(l.ID)), slog.String("code", why.Code))
		return nil
	}
	return err
}
