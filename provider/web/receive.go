package web

import (
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/trunklinehq/trunkline/provider"
)

// receiver turns the events of whatsmeow into those of the contract and hands
// them to the inbox.
type receiver struct {
	conn        *connection
	inbox       provider.Inbox
	people      *resolver
	messages    *messageReader
	calls       *callReader
	groups      *groups
	media       *mediaFetcher
	presence    *presence
	history     *history
	restriction *restriction
	contacts    *contactStore

	handled atomic.Int64 // events so far
}

// handle takes an event of whatsmeow and reports whether it may be acknowledged.
// whatsmeow calls it for one event after the other. It recovers from panics
// because whatsmeow would acknowledge an event whose handler panics.
func (rc *receiver) handle(c *whatsmeow.Client, e any) (ok bool) {
	defer rc.handled.Add(1)
	defer func() {
		if p := recover(); p != nil {
			rc.conn.log.Error("an event could not be handled", slog.String("event", fmt.Sprintf("%T", e)), slog.Any("panic", p))
			ok = false
		}
	}()
	switch {
	case c != rc.conn.current() || rc.conn.ctx.Err() != nil:
		return false
	case !rc.conn.leased():
		rc.conn.abort(c)
		return false
	}
	switch e.(type) {
	case *events.QR, *events.PairSuccess, *events.PairError, *events.PairPasskeyRequest, *events.PairPasskeyError, *events.PairPasskeyConfirmation,
		*events.ManualLoginReconnect, *events.Connected, *events.Disconnected, *events.KeepAliveTimeout, *events.LoggedOut,
		*events.StreamReplaced, *events.TemporaryBan, *events.ClientOutdated, *events.ConnectFailure, *events.StreamError:
		return rc.conn.signal(rc.conn.ctx, signal{c, e}) == nil
	}
	rc.conn.touch()
	attempt := rc.conn.attempt()
	evs, err := rc.translate(c, e)
	if err != nil {
		rc.conn.log.Warn("an event could not be translated", slog.String("event", fmt.Sprintf("%T", e)), slog.Any("error", err))
		rc.conn.abort(c)
		return false
	}
	if rc.conn.attempt() != attempt {
		return false // the connection was aborted while the event was read
	}
	return rc.deliver(c, evs...)
}

// deliver hands events to the inbox. When they cannot be stored, it aborts the
// connection: the network sends them again on the next one.
func (rc *receiver) deliver(c *whatsmeow.Client, evs ...provider.Event) bool {
	if len(evs) == 0 {
		return true
	}
	err := rc.inbox.Receive(rc.conn.ctx, rc.conn.ref.ID, evs)
	if err == nil {
		return true
	}
	if rc.conn.ctx.Err() == nil {
		rc.conn.log.Warn("storing what was received", slog.Any("error", err))
	}
	rc.conn.abort(c)
	return false
}

// translate returns the events that an event of whatsmeow means, or none.
func (rc *receiver) translate(c *whatsmeow.Client, e any) ([]provider.Event, error) {
	switch e := e.(type) {
	case *events.Message:
		if n := e.Message.GetProtocolMessage().GetHistorySyncNotification(); n != nil && shown(e.Info) {
			return nil, rc.history.announced(e.Info, n)
		}
		return rc.messages.message(c, e)
	case *events.UndecryptableMessage:
		hidden := e.DecryptFailMode == events.DecryptFailHide && e.Info.Type != "poll" // phones hide votes, which a program waits for
		if hidden || !shown(e.Info) || e.Info.Category == "peer" {
			return nil, nil
		}
		return rc.messages.envelope(e.Info, provider.Unknown{Kind: provider.Undecryptable}), nil
	case *events.Receipt:
		return rc.receipt(e), nil
	case *events.MediaRetry:
		rc.media.retries.answer(e)
	case *events.PushNameSetting, *events.AppStateSyncComplete: // presence cannot be sent before the name is known
		rc.conn.spawn("showing the account's presence", func() { rc.presence.show(c) })
	case *events.AppStateSyncError:
		if e.Name == inContacts {
			rc.contacts.markStale() // the next connection fetches all contacts
		}
	case *events.CallOffer, *events.CallOfferNotice, *events.CallAccept, *events.CallReject, *events.CallTerminate:
		return rc.calls.steps(c, e)
	case *events.GroupInfo, *events.JoinedGroup:
		return rc.groups.events(e), nil
	case *events.IdentityChange:
		return rc.identity(e), nil
	case *events.NotifyAccountReachoutTimelock:
		return rc.restriction.timelock(e)
	}
	return nil, nil
}

// receipt returns how far messages have come: sent ones with their contacts,
// received ones when the account reads them on the phone.
func (rc *receiver) receipt(e *events.Receipt) []provider.Event {
	status := map[types.ReceiptType]provider.Status{
		types.ReceiptTypeDelivered: provider.StatusDelivered, types.ReceiptTypeInactive: provider.StatusDelivered,
		types.ReceiptTypeRead: provider.StatusRead, types.ReceiptTypeReadSelf: provider.StatusRead,
		types.ReceiptTypePlayed: provider.StatusPlayed, types.ReceiptTypePlayedSelf: provider.StatusRead,
	}[e.Type]
	if status == 0 {
		return nil
	}
	if e.IsFromMe {
		if status == provider.StatusDelivered {
			return nil // another device of the account has received its copy
		}
		status = provider.StatusRead // on the phone, by the account itself
	}
	var out []provider.Event
	for _, id := range e.MessageIDs {
		c := &provider.StatusChange{MessageID: id, Status: status, At: e.Timestamp}
		if e.IsGroup && !e.IsFromMe {
			c.Participant = rc.people.address(rc.conn.ctx, e.Sender, e.SenderAlt).ChatID
		}
		out = append(out, c)
	}
	return out
}

// identity reports that a contact has new keys, and so perhaps another device.
func (rc *receiver) identity(e *events.IdentityChange) []provider.Event {
	c := &provider.ContactChange{What: provider.ContactIdentity, Chat: rc.people.address(rc.conn.ctx, e.JID, types.EmptyJID), At: e.Timestamp}
	c.Raw = provider.Raw{Kind: "identity", ID: fmt.Sprintf("%s:%d", c.Chat.ChatID, e.Timestamp.UnixMilli())}
	return []provider.Event{c}
}

// queueFull is the start of what whatsmeow logs when its queue of 2,048 nodes is
// full. It handles the nodes that follow in any order.
const queueFull = "Handler queue is full"

const (
	backlogPause = 500 * time.Millisecond // so long without an event, the queue is empty
	maxBacklog   = 20 * time.Second
)

// waitForBacklog waits until the queue is empty, and aborts the connection
// before whatsmeow reads more from it: the network sends what was not
// acknowledged again, in order. whatsmeow's reader waits for it to return.
func (rc *receiver) waitForBacklog(c *whatsmeow.Client) {
	before := rc.handled.Load()
	for end := time.Now().Add(maxBacklog); time.Now().Before(end); {
		select {
		case <-rc.conn.ctx.Done():
			return
		case <-time.After(backlogPause):
		}
		now := rc.handled.Load()
		if now == before {
			break
		}
		before = now
	}
	rc.conn.abort(c)
}
