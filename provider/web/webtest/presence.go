package webtest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"go.mau.fi/whatsmeow/types"
)

// Typing says that a person is typing or has stopped, as a phone was notified.
type Typing struct {
	From, Chat types.JID
	Writing    bool
	Voice      bool // recording a voice message
}

// Type notifies a chat that the phone's owner is typing or has stopped.
func (p *Phone) Type(chat types.JID, writing bool) {
	state := "paused"
	if writing {
		state = "composing"
	}
	p.s.deliveries(func(b *batch) {
		b.typing(p.self, &node{Attrs: attrs{"to": chat}, Content: []node{{Tag: state}}})
	})
}

// AwaitTyping waits until the phone is notified that a person is typing or has
// stopped. Each notification is returned once.
func (p *Phone) AwaitTyping(ctx context.Context, writing bool) (Typing, error) {
	var found Typing
	err := p.s.until(ctx, &p.changed, func() bool {
		at := slices.IndexFunc(p.inbox.typings, func(t Typing) bool { return t.Writing == writing })
		if at >= 0 {
			found = p.inbox.typings[at]
			p.inbox.typings = slices.Delete(p.inbox.typings, at, at+1)
		}
		return at >= 0
	})
	if err != nil {
		return Typing{}, fmt.Errorf("webtest: %s got no such notification: %w", p.jid, err)
	}
	return found, nil
}

func (c *conn) handleTyping(n *node) {
	c.s.deliveries(func(b *batch) { b.typing(c.device, n) })
}

// typing forwards who is typing. It is not queued for a device that is offline.
func (b *batch) typing(from *Device, n *node) {
	to := jid(n, "to")
	out := node{Tag: "chatstate", Content: n.Content}
	devices := b.s.groupDevices(to)
	if to.Server == types.GroupServer {
		form := b.s.formIn(to, from.phone)
		form.Device = from.number
		out.Attrs = attrs{"from": to, "participant": form}
	} else {
		out.Attrs = attrs{"from": from.phone.form(to, from.number)}
		if p := b.s.phone(to); p != nil {
			devices = p.everyDevice()
		}
	}
	for _, d := range devices {
		if d.phone != from.phone {
			b.pass(d, out)
		}
	}
}

// handleTyping records a notification.
func (in *phoneInbox) handleTyping(n *node) {
	from := jid(n, "from")
	t := Typing{From: from, Chat: from.ToNonAD()}
	if from.Server == types.GroupServer {
		t.From = jid(n, "participant")
	}
	state := firstChild(n)
	t.Writing, t.Voice = state.Tag == "composing", str(&state, "media") == "audio"
	in.p.s.mu.Lock()
	defer in.p.s.mu.Unlock()
	in.typings = append(in.typings, t)
	in.p.changed.ring()
}

// SetShown notifies the subscribers of the phone's presence that its owner is
// online or offline.
func (p *Phone) SetShown(shown bool) {
	p.s.deliveries(func(b *batch) {
		p.shown = shown
		for d, form := range p.subscribers {
			b.pass(d, p.presence(form))
		}
	})
}

func (p *Phone) presence(form types.JID) node {
	a := attrs{"from": form}
	if !p.shown {
		a["type"], a["last"] = "unavailable", time.Now().Unix()
	}
	return node{Tag: "presence", Attrs: a}
}

// handlePresence handles a client's own presence, and its subscriptions.
func (c *conn) handlePresence(n *node) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	switch str(n, "type") {
	case "subscribe":
		to := jid(n, "to")
		if p := c.s.phone(to); p != nil {
			p.subscribers[c.device] = to
			c.send(p.presence(to))
		}
	case "available":
		c.device.online = true
	case "unavailable":
		c.device.online = false
	}
	c.device.changed.ring()
}

// AwaitOnline waits until the client has sent that it is available.
func (d *Device) AwaitOnline(ctx context.Context) error {
	return d.until(ctx, "online", func() bool { return d.online })
}
