package webtest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"go.mau.fi/whatsmeow/types"
)

// Receipt is a receipt for a message that a phone has got.
type Receipt struct {
	ID   string
	Type types.ReceiptType
	From types.JID // the device that sent it
	Chat types.JID
	At   time.Time
}

type receiptKey struct {
	id   string
	kind types.ReceiptType
}

// AwaitReceipt waits for a receipt for a message, such as that it was delivered,
// read or played.
func (p *Phone) AwaitReceipt(ctx context.Context, id string, kind types.ReceiptType) (Receipt, error) {
	var found Receipt
	err := p.s.until(ctx, &p.changed, func() bool {
		r, ok := p.inbox.reported[receiptKey{id, kind}]
		found = r
		return ok
	})
	if err != nil {
		return Receipt{}, fmt.Errorf("webtest: %s got no receipt %q for %s: %w", p.jid, kind, id, err)
	}
	return found, nil
}

// Receipts returns the receipts that the phone got, in order.
func (p *Phone) Receipts() []Receipt {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	return slices.Clone(p.inbox.receipts)
}

// Read sends receipts that messages were read to their sender, and to the phone's
// own linked devices.
func (p *Phone) Read(chat, sender types.JID, ids ...string) {
	p.outbox.sendReceipt(types.ReceiptTypeRead, chat, sender, ids)
}

// Play sends receipts that voice messages were played to their sender.
func (p *Phone) Play(chat, sender types.JID, ids ...string) {
	p.outbox.sendReceipt(types.ReceiptTypePlayed, chat, sender, ids)
}

// sendReceipt sends a receipt for messages.
func (ob *phoneOutbox) sendReceipt(kind types.ReceiptType, chat, sender types.JID, ids []string) {
	if ob.p.opts.NoReadReceipts && kind == types.ReceiptTypeRead {
		kind = types.ReceiptTypeReadSelf
	}
	for _, id := range ids {
		a := attrs{"id": id, "to": chat, "type": string(kind), "t": time.Now().Unix()}
		if chat.Server == types.GroupServer {
			put(a, "participant", sender.ToNonAD())
		}
		ob.p.s.deliveries(func(b *batch) { b.receipt(ob.p.self, &node{Tag: "receipt", Attrs: a}) })
	}
}

// handleReceipt acknowledges a client's receipt and forwards it.
func (c *conn) handleReceipt(n *node) {
	c.s.deliveries(func(b *batch) {
		kind := types.ReceiptType(str(n, "type"))
		ack := attrs{"class": "receipt", "id": n.Attrs["id"], "from": n.Attrs["to"]}
		put(ack, "type", string(kind))
		c.send(node{Tag: "ack", Attrs: ack})
		switch kind {
		case types.ReceiptTypeDelivered, types.ReceiptTypeInactive, types.ReceiptTypeSender, types.ReceiptTypePeerMsg, types.ReceiptTypeRetry:
			c.device.acknowledge(Ack{ID: str(n, "id"), Kind: "message", Type: string(kind)}, n, kind == types.ReceiptTypeRetry)
		}
		b.receipt(c.device, n)
	})
}

// receipt forwards a device's receipt to the account that it answers, and to the
// device's own account where necessary.
func (b *batch) receipt(from *Device, n *node) {
	to, kind := jid(n, "to"), types.ReceiptType(str(n, "type"))
	if to.Server == types.GroupServer {
		to = jid(n, "participant")
	}
	p := b.s.phone(to)
	if p == nil || kind == types.ReceiptTypeSender {
		return
	}
	switch kind {
	case types.ReceiptTypeHistorySync, types.ReceiptTypePeerMsg, types.ReceiptTypeServerError:
		b.deliver(p.self, b.receiptOf(from, n))
		return
	case types.ReceiptTypeRead, types.ReceiptTypeReadSelf, types.ReceiptTypePlayed:
		b.ownReceipt(from, n)
	}
	if kind == types.ReceiptTypeReadSelf {
		return
	}
	out := b.receiptOf(from, n)
	for _, d := range p.everyDevice() {
		// A retry request goes to one device.
		if d != from && (kind != types.ReceiptTypeRetry || d.number == to.Device) {
			b.deliver(d, out)
		}
	}
}

// receiptOf returns a receipt as other devices get it.
func (b *batch) receiptOf(d *Device, n *node) node {
	to := jid(n, "to")
	a := attrs{"id": n.Attrs["id"], "t": time.Now().Unix()}
	put(a, "type", str(n, "type"))
	put(a, "recipient", jid(n, "recipient"))
	if str(n, "type") == string(types.ReceiptTypeInactive) {
		delete(a, "type")
	}
	if g := b.s.groups[to.User]; to.Server == types.GroupServer && g != nil {
		form := g.form(d.phone)
		form.Device = d.number
		a["from"], a["participant"] = to, form
		put(a, otherParticipant(form), d.phone.other(form, d.number))
	} else {
		a["from"] = d.phone.form(to, d.number)
	}
	return node{Tag: "receipt", Attrs: a, Content: n.Content}
}

// ownReceipt sends the other devices of an account what one of them has read.
func (b *batch) ownReceipt(from *Device, n *node) {
	to := jid(n, "to")
	a := attrs{"id": n.Attrs["id"], "t": time.Now().Unix(), "type": n.Attrs["type"], "from": to}
	if to.Server == types.GroupServer {
		form := b.s.formIn(to, from.phone)
		form.Device = from.number
		a["participant"] = form
	} else {
		a["from"], a["recipient"] = from.phone.form(to, from.number), to
	}
	for _, d := range from.phone.everyDevice() {
		if d != from {
			b.deliver(d, node{Tag: "receipt", Attrs: a, Content: n.Content})
		}
	}
}

// handleReceipt records a receipt and answers requests to send something again.
func (in *phoneInbox) handleReceipt(n *node) {
	switch types.ReceiptType(str(n, "type")) {
	case types.ReceiptTypeRetry:
		in.p.outbox.resend(n)
	case types.ReceiptTypeServerError:
		in.p.requests.answerMediaRetry(n)
	}
	from, chat := jid(n, "from"), jid(n, "from").ToNonAD()
	if chat.Server == types.GroupServer {
		from = jid(n, "participant")
	} else if r := jid(n, "recipient"); !r.IsEmpty() {
		chat = r
	}
	ids := []string{str(n, "id")}
	list := n.GetChildByTag("list")
	for _, item := range list.GetChildren() {
		ids = append(ids, str(&item, "id"))
	}
	in.p.s.mu.Lock()
	defer in.p.s.mu.Unlock()
	for _, id := range ids {
		r := Receipt{ID: id, Type: types.ReceiptType(str(n, "type")), From: from, Chat: chat, At: n.AttrGetter().UnixTime("t")}
		in.receipts = append(in.receipts, r)
		if key := (receiptKey{id, r.Type}); in.reported[key].ID == "" {
			in.reported[key] = r
		}
	}
	in.p.changed.ring()
}
