package web

import (
	"fmt"
	"sync"

	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/trunklinehq/trunkline/provider"
)

// callReader turns the steps of calls into events.
type callReader struct {
	conn   *connection
	people *resolver

	mu       sync.Mutex
	accepted map[string]bool // recent calls that were accepted, by id
}

// call returns the event of a step of a call.
func (cr *callReader) call(e any) []provider.Event {
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
	c.Raw = provider.Raw{Kind: "call", ID: fmt.Sprintf("%s:%s", meta.CallID, c.Status)}
	return []provider.Event{c}
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
