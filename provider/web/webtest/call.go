package webtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.mau.fi/whatsmeow/types"
)

// Call is a call of a phone.
type Call struct {
	ID    string
	To    types.JID
	Video bool
	from  *Phone
}

// PhoneCalls makes and answers calls as a [Phone].
type PhoneCalls struct {
	p        *Phone
	rejected []string // ids of calls; the server's lock guards it
}

// Ring calls a phone, whose linked devices ring.
func (pc *PhoneCalls) Ring(to types.JID, video bool) Call {
	call := Call{ID: strings.ToUpper(newMessageID()), To: to, Video: video, from: pc.p}
	media := "audio"
	if video {
		media = "video"
	}
	pc.signal(call, "offer", attrs{}, []node{{Tag: media}})
	return call
}

// HangUp ends a call that rings. The reason is one of the network's, such as ""
// or "timeout".
func (pc *PhoneCalls) HangUp(call Call, reason string) {
	a := attrs{}
	put(a, "reason", reason)
	pc.signal(call, "terminate", a, nil)
}

// PickUp accepts a call on the phone that rings. Its linked devices stop ringing.
func (*PhoneCalls) PickUp(call Call) { call.from.calls.HangUp(call, "accepted_elsewhere") }

// Decline rejects a call on the phone that rings.
func (*PhoneCalls) Decline(call Call) { call.from.calls.HangUp(call, "rejected_elsewhere") }

func (pc *PhoneCalls) signal(call Call, what string, a attrs, content []node) {
	form := pc.p.form(call.To, 0)
	a["call-id"], a["call-creator"] = call.ID, form
	pc.p.s.deliveries(func(b *batch) {
		other := pc.p.s.phone(call.To)
		if other == nil {
			return
		}
		put(a, otherName("caller", form), pc.p.other(form, 0))
		for _, d := range other.companions() {
			b.deliver(d, node{
				Tag:     "call",
				Attrs:   attrs{"from": form, "id": pc.p.s.id(), "t": time.Now().Unix(), "platform": "android", "version": "2.26.1"},
				Content: []node{{Tag: what, Attrs: a, Content: content}},
			})
		}
	})
}

// AwaitReject waits until a linked device has rejected the call.
func (pc *PhoneCalls) AwaitReject(ctx context.Context, call Call) error {
	err := pc.p.s.until(ctx, &pc.p.changed, func() bool { return slices.Contains(pc.rejected, call.ID) })
	if err != nil {
		return fmt.Errorf("webtest: the call was not rejected: %w", err)
	}
	return nil
}

// handleCall forwards what a client does with a call.
func (c *conn) handleCall(n *node) {
	c.s.deliveries(func(b *batch) {
		c.send(node{Tag: "ack", Attrs: attrs{"class": "call", "id": n.Attrs["id"], "from": n.Attrs["to"]}})
		to := jid(n, "to")
		if p := b.s.phone(to); p != nil {
			b.deliver(p.self, node{
				Tag: "call", Attrs: attrs{"from": c.device.phone.form(to, c.device.number), "id": b.s.id(), "t": time.Now().Unix()},
				Content: n.Content,
			})
		}
	})
}

// handle records that a linked device has rejected a call.
func (pc *PhoneCalls) handle(n *node) {
	reject := n.GetChildByTag("reject")
	pc.p.s.mu.Lock()
	defer pc.p.s.mu.Unlock()
	if reject.Tag != "" {
		pc.rejected = append(pc.rejected, str(&reject, "call-id"))
		pc.p.changed.ring()
	}
}
