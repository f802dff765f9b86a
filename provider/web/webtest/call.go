package webtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.mau.fi/whatsmeow/types"
)

// Call is a call that a phone makes.
type Call struct {
	ID    string
	To    types.JID
	Video bool
	from  *Phone
}

// Ring calls a phone, whose linked devices ring.
func (p *Phone) Ring(to types.JID, video bool) Call {
	call := Call{ID: strings.ToUpper(newMessageID()), To: to, Video: video, from: p}
	media := "audio"
	if video {
		media = "video"
	}
	p.signalCall(call, "offer", attrs{}, []node{{Tag: media}})
	return call
}

// HangUp ends a call that rings. The reason is the network's: "", "timeout" …
func (p *Phone) HangUp(call Call, reason string) {
	a := attrs{}
	put(a, "reason", reason)
	p.signalCall(call, "terminate", a, nil)
}

// PickUp takes a call on the phone that rings: its linked devices stop ringing.
func (*Phone) PickUp(call Call) { call.from.HangUp(call, "accepted_elsewhere") }

// Decline refuses a call on the phone that rings.
func (*Phone) Decline(call Call) { call.from.HangUp(call, "rejected_elsewhere") }

func (p *Phone) signalCall(call Call, what string, a attrs, content []node) {
	form := p.form(call.To, 0)
	a["call-id"], a["call-creator"] = call.ID, form
	p.s.deliveries(func(b *batch) {
		other := p.s.phone(call.To)
		if other == nil {
			return
		}
		put(a, otherName("caller", form), p.other(form, 0))
		for _, d := range other.companions() {
			b.deliver(d, node{
				Tag:     "call",
				Attrs:   attrs{"from": form, "id": p.s.id(), "t": time.Now().Unix(), "platform": "android", "version": "2.26.1"},
				Content: []node{{Tag: what, Attrs: a, Content: content}},
			})
		}
	})
}

// AwaitReject waits until a linked device has rejected the call.
func (p *Phone) AwaitReject(ctx context.Context, call Call) error {
	err := p.s.until(ctx, &p.changed, func() bool { return slices.Contains(p.rejected, call.ID) })
	if err != nil {
		return fmt.Errorf("webtest: nobody rejects the call: %w", err)
	}
	return nil
}

// handleCall passes on what a client does with a call.
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

// handleCall is what the phone does with it.
func (p *Phone) handleCall(n *node) {
	reject := n.GetChildByTag("reject")
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	if reject.Tag != "" {
		p.rejected = append(p.rejected, str(&reject, "call-id"))
		p.changed.ring()
	}
}
