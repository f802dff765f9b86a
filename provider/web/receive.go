package web

import (
	"context"
	"fmt"
	"log/slog"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/trunklinehq/trunkline/provider"
)

// on takes an event of whatsmeow and reports whether it may be acknowledged.
// whatsmeow calls it for one event after the other, and takes a panic for a
// success: it is caught here.
func (s *session) on(c *whatsmeow.Client, e any) (ok bool) {
	defer s.handled.Add(1)
	defer func() {
		if p := recover(); p != nil {
			s.log.Error("an event could not be handled", slog.String("event", fmt.Sprintf("%T", e)), slog.Any("panic", p))
			ok = false
		}
	}()
	switch {
	case c != s.device() || s.ctx.Err() != nil:
		return false
	case !s.leased():
		s.breakOff(c)
		return false
	}
	switch e.(type) {
	case *events.QR, *events.PairSuccess, *events.PairError, *events.PairPasskeyRequest, *events.PairPasskeyError,
		*events.ManualLoginReconnect, *events.Connected, *events.Disconnected, *events.KeepAliveTimeout, *events.LoggedOut,
		*events.StreamReplaced, *events.TemporaryBan, *events.ClientOutdated, *events.ConnectFailure, *events.StreamError:
		return s.signal(s.ctx, signal{c, e}) == nil
	}
	s.touch()
	call := s.standing()
	evs, err := s.translate(c, e)
	if err != nil {
		s.log.Warn("an event could not be translated", slog.String("event", fmt.Sprintf("%T", e)), slog.Any("error", err))
		s.breakOff(c)
		return false
	}
	if s.standing() != call {
		return false // it could not be read as a whole
	}
	return s.take(c, evs...)
}

// take hands events to the inbox. When they cannot be stored, the network is
// to send them again: it does when the line connects again.
func (s *session) take(c *whatsmeow.Client, evs ...provider.Event) bool {
	if len(evs) == 0 {
		return true
	}
	err := s.inbox.Receive(s.ctx, s.ref.ID, evs)
	if err == nil {
		return true
	}
	if s.ctx.Err() == nil {
		s.log.Warn("storing what was received", slog.Any("error", err))
	}
	s.breakOff(c)
	return false
}

// translate turns an event of whatsmeow into ours; none for what is not kept.
func (s *session) translate(c *whatsmeow.Client, e any) ([]provider.Event, error) {
	switch e := e.(type) {
	case *events.Message:
		return s.message(c, e)
	case *events.UndecryptableMessage:
		if e.DecryptFailMode == events.DecryptFailHide || !shown(e.Info) || e.Info.Category == "peer" {
			return nil, nil
		}
		return s.envelope(e.Info, provider.Unknown{Kind: provider.Undecryptable}), nil
	case *events.Receipt:
		return s.receipt(e), nil
	case *events.MediaRetry:
		s.asked.answer(e)
	case *events.PushNameSetting: // without a name the account could not be shown as online
		s.spawn("showing the account's presence", func() { s.present(c) })
	case *events.AppStateSyncComplete:
		s.spawn("showing the account's presence", func() { s.present(c) })
	case *events.AppStateSyncError:
		if e.Name == inContacts {
			s.store.contactStore.markStale() // the next connection fetches the whole book
		}
	case *events.CallOffer, *events.CallOfferNotice, *events.CallAccept, *events.CallReject, *events.CallTerminate:
		return s.call(e), nil
	case *events.GroupInfo, *events.JoinedGroup:
		return s.groupNews(e), nil
	case *events.IdentityChange:
		return s.identity(e), nil
	case *events.NotifyAccountReachoutTimelock:
		return s.timelock(e)
	}
	return nil, nil
}

// chatOf is the chat of something that came, and who sent it.
func (s *session) chatOf(ctx context.Context, m types.MessageSource) (chat provider.Address, from provider.Contact) {
	from.Address = s.both(ctx, m.Sender, m.SenderAlt)
	switch {
	case m.IsGroup && !m.IsIncomingBroadcast():
		return group(m.Chat), from
	case m.IsFromMe:
		return s.both(ctx, m.Chat, m.RecipientAlt), from
	}
	return from.Address, from
}

// both is a person by both ids, as far as this line knows them. When it cannot
// look that up the connection ends: under half a name something would be stored
// in another chat than under the whole one.
func (s *session) both(ctx context.Context, a, b types.JID) provider.Address {
	a, b = a.ToNonAD(), b.ToNonAD()
	c := s.device()
	if c == nil || !b.IsEmpty() {
		return person(a, b)
	}
	var err error
	switch a.Server {
	case types.HiddenUserServer:
		b, err = c.Store.LIDs.GetPNForLID(ctx, a)
	case types.DefaultUserServer:
		b, err = c.Store.LIDs.GetLIDForPN(ctx, a)
	}
	if err != nil && ctx.Err() == nil {
		s.log.WarnContext(ctx, "reading whose a hidden id is", slog.Any("error", err))
		s.store.fail()
	}
	return person(a, b)
}
