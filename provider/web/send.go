package web

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/types"

	"github.com/trunklinehq/trunkline/provider"
)

const (
	// ackTimeout is how long the network may take to confirm a message.
	ackTimeout = 20 * time.Second
	slowDown   = time.Minute
)

// Errors of the network for a message.
const (
	codeReachOut  = 463 // the account may not write to new contacts
	codeRateLimit = 429
	codeFailed    = 500 // and above: the network failed
)

// sender sends messages.
type sender struct {
	conn        *connection
	people      *resolver
	senders     *senders
	rate        *sendRate
	restriction *restriction
}

// Send hands a message to the network.
func (s *sender) Send(ctx context.Context, out provider.Outbound) (provider.Receipt, error) {
	c, err := s.conn.connected(ctx)
	if err != nil {
		return provider.Receipt{}, err
	}
	to := jid(out.To)
	if to.IsEmpty() {
		return provider.Receipt{}, badRecipient
	}
	isNew, err := s.rate.isNew(ctx, c, to)
	if err != nil {
		return provider.Receipt{}, &provider.Temporary{Err: err}
	}
	if err := s.rate.turn(ctx, isNew); err != nil {
		return provider.Receipt{}, err
	}
	msg, err := s.compose(ctx, c, to, out)
	if err != nil {
		return provider.Receipt{}, err
	}
	if _, err := c.SendMessage(ctx, to, msg, whatsmeow.SendRequestExtra{ID: out.ID, Timeout: ackTimeout}); err != nil {
		return provider.Receipt{}, s.sendError(ctx, err)
	}
	if isNew {
		s.restriction.lift(ctx)
	}
	s.senders.remember(types.MessageInfo{
		MessageSource: types.MessageSource{Chat: to, Sender: c.Store.GetJID(), IsFromMe: true}, ID: out.ID,
	})
	r := provider.Receipt{MessageID: out.ID}
	if !out.To.Group {
		known := s.people.address(ctx, to, types.EmptyJID)
		r.To = &known
	}
	return r, nil
}

// sendError returns the error of the contract for a failed send. An ambiguous
// send may be repeated: the network recognizes a message by the id that we chose.
func (s *sender) sendError(ctx context.Context, err error) error {
	if code, ok := serverCode(err); ok {
		text := fmt.Sprintf("WhatsApp refused the message (%d).", code)
		switch {
		case code == codeReachOut:
			s.restriction.note(ctx)
			return s.rate.lockedErr()
		case code == codeRateLimit:
			return &provider.RateLimited{After: slowDown, Code: strconv.Itoa(code), Message: text}
		case code >= codeFailed:
			return &provider.Temporary{Err: err}
		}
		return &provider.Rejected{Code: strconv.Itoa(code), Message: text}
	}
	switch {
	case errors.Is(err, whatsmeow.ErrIQRateOverLimit):
		return &provider.RateLimited{After: slowDown, Code: "429", Message: "WhatsApp asks to slow down."}
	case errors.Is(err, whatsmeow.ErrNotInGroup), errors.Is(err, whatsmeow.ErrGroupNotFound), errors.Is(err, whatsmeow.ErrIQForbidden):
		return &provider.Rejected{Code: "group", Message: "The account is not in this group."}
	case strings.HasPrefix(err.Error(), "no LID found for "): // whatsmeow has no name for it
		return &provider.BadRecipient{Code: "number", Message: "This number has no WhatsApp."}
	}
	switch {
	case ctx.Err() != nil: // the message may have been sent
		return &provider.Ambiguous{Err: ctx.Err()}
	case errors.Is(err, whatsmeow.ErrNotConnected), errors.Is(err, whatsmeow.ErrNotLoggedIn):
		return &provider.Temporary{Err: err}
	}
	return &provider.Ambiguous{Err: errors.New("sending through WhatsApp failed: " + redacted(err))}
}

// serverCode is the number in whatsmeow's "server returned error N".
func serverCode(err error) (int, bool) {
	if !errors.Is(err, whatsmeow.ErrServerReturnedError) {
		return 0, false
	}
	words := strings.Fields(err.Error())
	code, convErr := strconv.Atoi(words[len(words)-1])
	return code, convErr == nil
}

// redacted returns the text of an error of whatsmeow without the ids of people.
func redacted(err error) string {
	var out []string
	for _, w := range strings.Fields(err.Error()) {
		if strings.Contains(w, "@") {
			w = "…"
		}
		out = append(out, w)
	}
	return strings.Join(out, " ")
}
