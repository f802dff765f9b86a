package web

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/trunklinehq/trunkline/provider"
)

// callReader turns the steps of calls into events.
type callReader struct {
	conn   *connection
	people *resolver

	mu       sync.Mutex
	accepted map[string]bool      // recent calls that were accepted, by id
	callers  map[string]types.JID // who made recent calls, as the network names them, by id
}

// ringTimeout is how old an offer of a call may be that a setting rejects. The
// network keeps offers for a device that is not connected, whose calls have ended.
const ringTimeout = time.Minute

// steps returns the steps of a call that an event means. A call that the settings
// of the reference reject is rejected before its steps are stored. If they cannot
// be stored, the network sends the event again, and the call is rejected again.
func (cr *callReader) steps(c *whatsmeow.Client, e any) ([]provider.Event, error) {
	call, creator := cr.call(e)
	out := []provider.Event{call}
	settings := cr.conn.ref.Settings
	if call.Status != provider.CallRinging || call.Chat.Group {
		return out, nil
	}
	cr.remember(call.CallID, creator)
	if settings[settingReject] != "true" || cr.conn.now().Sub(call.At) > ringTimeout {
		return out, nil
	}
	if err := c.RejectCall(cr.conn.ctx, creator, call.CallID); err != nil {
		return nil, fmt.Errorf("rejecting a call: %w", err)
	}
	rejected := *call
	rejected.Status, rejected.RejectedBy, rejected.Reply = provider.CallRejected, provider.RejectedBySetting, settings[settingReply]
	rejected.Raw = rawStep(call.CallID, rejected.Status)
	return append(out, &rejected), nil
}

// RejectCall rejects a call that rings.
func (cr *callReader) RejectCall(ctx context.Context, chat provider.Address, callID string) error {
	c, err := cr.conn.connected(ctx)
	if err != nil {
		return err
	}
	if err := c.RejectCall(ctx, cr.caller(callID, jid(chat)), callID); err != nil {
		return &provider.Temporary{Err: errors.New(redacted(err))}
	}
	return nil
}

// remember records who made a call.
func (cr *callReader) remember(call string, who types.JID) {
	cr.mu.Lock()
	defer cr.mu.Unlock()
	if cr.callers == nil || len(cr.callers) > maxSenders {
		cr.callers = map[string]types.JID{}
	}
	cr.callers[call] = who
}

// caller returns who made a call. The network may know its chat by another name.
func (cr *callReader) caller(call string, chat types.JID) types.JID {
	cr.mu.Lock()
	defer cr.mu.Unlock()
	if who, ok := cr.callers[call]; ok {
		return who
	}
	return chat
}

// call returns the step of a call that an event means, and who made the call.
func (cr *callReader) call(e any) (*provider.Call, types.JID) {
	c := &provider.Call{}
	var meta types.BasicCallMeta
	switch e := e.(type) {
	case *events.CallOffer:
		meta, c.Status = e.BasicCallMeta, provider.CallRinging
		_, c.Video = e.Data.GetOptionalChildByTag("video")
	case *events.CallOfferNotice:
		meta, c.Status, c.Video = e.BasicCallMeta, provider.CallRinging, e.Media == "video"
	case *events.CallAccept:
		meta, c.Status = e.BasicCallMeta, provider.CallAccepted
	case *events.CallReject:
		meta, c.Status = e.BasicCallMeta, provider.CallRejected
	case *events.CallTerminate:
		meta, c.Status = e.BasicCallMeta, cr.stopped(e)
	}
	if c.Status == provider.CallAccepted {
		cr.accept(meta.CallID)
	}
	caller := cr.people.address(cr.conn.ctx, meta.CallCreator, meta.CallCreatorAlt)
	c.From = provider.Contact{Address: caller}
	c.Chat, c.CallID, c.At = caller, meta.CallID, meta.Timestamp
	if !meta.GroupJID.IsEmpty() {
		c.Chat = group(meta.GroupJID)
	}
	c.Raw = rawStep(meta.CallID, c.Status)
	return c, meta.CallCreator.ToNonAD()
}

func rawStep(call string, status provider.CallStatus) provider.Raw {
	return provider.Raw{Kind: "call", ID: fmt.Sprintf("%s:%s", call, status)}
}

// stopped returns why a linked device stops ringing: the call may have been
// accepted on the phone.
func (cr *callReader) stopped(e *events.CallTerminate) provider.CallStatus {
	switch {
	case cr.isAccepted(e.CallID):
		return provider.CallEnded
	case e.Reason == "accepted_elsewhere":
		return provider.CallAccepted
	case e.Reason == "rejected_elsewhere":
		return provider.CallRejected
	}
	return provider.CallMissed
}

func (cr *callReader) accept(call string) {
	cr.mu.Lock()
	defer cr.mu.Unlock()
	if cr.accepted == nil || len(cr.accepted) > maxSenders {
		cr.accepted = map[string]bool{}
	}
	cr.accepted[call] = true
}

func (cr *callReader) isAccepted(call string) bool {
	cr.mu.Lock()
	defer cr.mu.Unlock()
	return cr.accepted[call]
}
