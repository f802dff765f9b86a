package webtest

import (
	"time"

	"go.mau.fi/whatsmeow/types"
)

// handleMessage answers and delivers a client's message. If the client sends
// the same id again, the message is answered but not delivered.
func (c *conn) handleMessage(n *node) {
	c.s.deliveries(func(b *batch) {
		d, id := c.device, str(n, "id")
		if d.frames == nil {
			d.frames = map[string]int{}
		}
		var f Fault
		if has(n, "participants") {
			d.frames[id]++
			f = d.fault()
			d.changed.ring()
		}
		refused := f != Fault{Times: f.Times}
		if (!refused || f.Taken) && d.take(n) {
			b.message(d, n)
		}
		switch {
		case f.Cut:
			c.drop()
		case !f.Lost:
			ack := attrs{"class": "message", "id": id, "from": n.Attrs["to"], "t": time.Now().Unix()}
			if f.Code != 0 {
				ack["error"] = f.Code
			}
			c.send(node{Tag: "ack", Attrs: ack})
		}
	})
}

// take reports whether the message is new. A message that a device has
// requested again is always new. s.mu is held.
func (d *Device) take(n *node) bool {
	if !has(n, "participants") {
		return true
	}
	id := str(n, "id")
	if d.taken[id] {
		return false
	}
	if d.taken == nil {
		d.taken = map[string]bool{}
	}
	d.taken[id] = true
	return true
}

// message delivers a message to the devices for which it is encrypted.
func (b *batch) message(from *Device, n *node) {
	to := jid(n, "to")
	rest := shared(n)
	if !has(n, "participants") {
		d := b.s.device(to)
		if to.Server == types.GroupServer {
			d = b.s.device(jid(n, "participant"))
		}
		if d != nil {
			b.hand(from, d, n, append(n.GetChildrenByTag("enc"), rest...))
		}
		return
	}
	common := n.GetChildrenByTag("enc") // for all devices of a group
	got := map[*Device]bool{from: true}
	participants := n.GetChildByTag("participants")
	for _, one := range participants.GetChildren() {
		d := b.s.device(jid(&one, "jid"))
		if d == nil || got[d] {
			continue
		}
		got[d] = true
		b.hand(from, d, n, join(one.GetChildren(), common, rest))
	}
	for _, d := range b.s.groupDevices(to) {
		if !got[d] {
			b.hand(from, d, n, join(common, rest))
		}
	}
}

// hand delivers a message to one device. The addresses of the sender and the
// chat are those that the device knows.
func (b *batch) hand(from, d *Device, n *node, content []node) {
	sender, to := from.phone, jid(n, "to")
	a := attrs{"id": n.Attrs["id"], "type": n.Attrs["type"], "t": messageTime(n)}
	put(a, "notify", sender.opts.Name)
	put(a, "edit", str(n, "edit"))
	put(a, "category", str(n, "category"))
	if g := b.s.groups[to.User]; to.Server == types.GroupServer && g != nil {
		form := g.form(sender)
		form.Device = from.number
		a["from"], a["participant"], a["addressing_mode"] = to, form, g.mode()
		put(a, otherParticipant(form), sender.other(form, from.number))
	} else {
		form := sender.form(to, from.number)
		a["from"], a["addressing_mode"] = form, modeOf(form)
		put(a, otherName("sender", form), sender.other(form, from.number))
		if d.phone == sender {
			b.ownChat(a, n)
		}
	}
	b.deliver(d, node{Tag: "message", Attrs: a, Content: content})
}

// ownChat adds the chat of a message for a device of the sender's account.
func (b *batch) ownChat(a attrs, n *node) {
	chat := jid(n, "to").ToNonAD()
	if r := jid(n, "recipient"); !r.IsEmpty() {
		chat = r
	}
	a["recipient"] = chat
	if p := b.s.phone(chat); p != nil {
		put(a, otherName("peer_recipient", chat), p.other(chat, 0))
	}
}

// messageTime returns the time of a message: now, unless a phone has set
// another.
func messageTime(n *node) any {
	if t, ok := n.Attrs["t"]; ok {
		return t
	}
	return time.Now().Unix()
}

func modeOf(j types.JID) string {
	if j.Server == types.HiddenUserServer {
		return string(types.AddressingModeLID)
	}
	return string(types.AddressingModePN)
}

// otherName returns the name of the attribute for the other form of an address.
func otherName(prefix string, form types.JID) string {
	if form.Server == types.HiddenUserServer {
		return prefix + "_pn"
	}
	return prefix + "_lid"
}

func otherParticipant(form types.JID) string { return otherName("participant", form) }

// shared returns the children of a message that all recipients get.
func shared(n *node) []node {
	var list []node
	for _, child := range n.GetChildren() {
		switch child.Tag {
		case "device-identity", "meta", "reporting", "biz":
			list = append(list, child)
		}
	}
	return list
}

func join(lists ...[]node) []node {
	var all []node
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}
