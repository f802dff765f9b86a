package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/types"

	"github.com/trunklinehq/trunkline/provider"
)

const (
	// ackTimeout is how long the network may take to say that it has a message.
	ackTimeout = 20 * time.Second
	slowDown   = time.Minute
)

// Errors of the network for a message.
const (
	codeReachOut  = 463 // the account may not write to strangers
	codeRateLimit = 429
	codeFailed    = 500 // and above: its own fault
)

// Send hands a message to the network.
func (s *session) Send(ctx context.Context, out provider.Outbound) (provider.Receipt, error) {
	c, err := s.connected(ctx)
	if err != nil {
		return provider.Receipt{}, err
	}
	to := jid(out.To)
	if to.IsEmpty() {
		return provider.Receipt{}, badRecipient
	}
	stranger, err := s.stranger(ctx, c, to)
	if err != nil {
		return provider.Receipt{}, &provider.Temporary{Err: err}
	}
	if err := s.turn(ctx, stranger); err != nil {
		return provider.Receipt{}, err
	}
	msg, err := s.compose(ctx, c, to, out)
	if err != nil {
		return provider.Receipt{}, err
	}
	if _, err := c.SendMessage(ctx, to, msg, whatsmeow.SendRequestExtra{ID: out.ID, Timeout: ackTimeout}); err != nil {
		return provider.Receipt{}, s.sendError(ctx, err)
	}
	if stranger {
		s.letIn(ctx)
	}
	s.names.remember(types.MessageInfo{
		MessageSource: types.MessageSource{Chat: to, Sender: c.Store.GetJID(), IsFromMe: true}, ID: out.ID,
	})
	r := provider.Receipt{MessageID: out.ID}
	if !out.To.Group {
		known := s.both(ctx, to, types.EmptyJID)
		r.To = &known
	}
	return r, nil
}

// turn takes the turn of a message.
func (s *session) turn(ctx context.Context, stranger bool) error {
	if stranger && s.rate.untilUnlocked() > 0 {
		return s.outreach()
	}
	if wait := s.rate.turn(stranger); wait > 0 {
		return &provider.RateLimited{After: wait, Code: "pace", Message: "The line writes slowly so that it is not banned."}
	}
	if !stranger {
		return nil
	}
	if err := s.storeRate(ctx); err != nil {
		return &provider.Temporary{Err: err}
	}
	return nil
}

// stranger reports whether the line has no keys of a person: they have never
// exchanged a message.
func (s *session) stranger(ctx context.Context, c *whatsmeow.Client, to types.JID) (bool, error) {
	if to.Server == types.GroupServer {
		return false, nil
	}
	for _, j := range []types.JID{to, jid(provider.Address{LID: s.both(ctx, to, types.EmptyJID).LID})} {
		if j.User == "" {
			continue
		}
		has, err := c.Store.Sessions.HasSession(ctx, j.SignalAddress().String())
		if err != nil || has {
			return false, err
		}
	}
	return true, nil
}

// sendError tells what the network's refusal means. Message ids are ours: what
// may have been sent is repeated.
func (s *session) sendError(ctx context.Context, err error) error {
	if code, ok := serverCode(err); ok {
		text := fmt.Sprintf("WhatsApp refused the message (%d).", code)
		switch {
		case code == codeReachOut:
			s.restrictOutreach(ctx)
			return s.outreach()
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
	case ctx.Err() != nil: // it may have been on its way
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

// redacted is an error of whatsmeow without the ids of people in it.
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

// MarkRead shows the contact that a message was read.
func (s *session) MarkRead(ctx context.Context, chat provider.Address, id string) error {
	return s.markRead(ctx, chat, id, nil)
}

// MarkReadAbout does so also in a group, where it is not enough to name the
// message.
func (s *session) MarkReadAbout(ctx context.Context, chat provider.Address, id string, about provider.About) error {
	return s.markRead(ctx, chat, id, &about)
}

func (s *session) markRead(ctx context.Context, chat provider.Address, id string, about *provider.About) error {
	c, err := s.connected(ctx)
	if err != nil {
		return err
	}
	to := jid(chat)
	sender, err := s.writer(ctx, c, to, id, about)
	if err != nil || sender.IsEmpty() {
		return err // nil: a group, and who wrote is forgotten: it cannot be said
	}
	if err := c.MarkRead(ctx, []types.MessageID{id}, s.p.opts.Now(), to, sender); err != nil {
		return &provider.Temporary{Err: errors.New(redacted(err))}
	}
	return nil
}

// Typing shows the contact that an answer is being written.
func (s *session) Typing(ctx context.Context, chat provider.Address, _ string) error {
	c, err := s.connected(ctx)
	if err != nil {
		return err
	}
	if err := c.SendChatPresence(ctx, jid(chat), types.ChatPresenceComposing, types.ChatPresenceMediaText); err != nil {
		return &provider.Temporary{Err: errors.New(redacted(err))}
	}
	return nil
}

// welcome does what follows from a connection.
func (s *session) welcome(c *whatsmeow.Client) {
	s.present(c)
	s.syncContacts(c)
	s.importHistory(c)
}

// present shows the account as online, or not.
func (s *session) present(c *whatsmeow.Client) {
	presence := types.PresenceUnavailable
	if s.ref.Settings[settingOnline] == "true" {
		presence = types.PresenceAvailable
	}
	if c.Store.PushName == "" {
		return
	}
	if err := c.SendPresence(s.ctx, presence); err != nil {
		s.log.Debug("showing the account's presence", slog.Any("error", err))
	}
}
