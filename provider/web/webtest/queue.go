package webtest

import (
	"context"
	"slices"
	"time"

	"go.mau.fi/whatsmeow/types"
)

// queued is a node that a device has to acknowledge.
type queued struct{ node node }

// batch collects deliveries that are made under the server's lock. Phones
// handle theirs after the lock is released.
type batch struct {
	s   *Server
	due []*Phone
}

// deliveries runs fn under the server's lock, and then lets the phones handle
// what it delivered to them.
func (s *Server) deliveries(fn func(b *batch)) {
	b := &batch{s: s}
	s.locked(func() { fn(b) })
	for _, p := range b.due {
		p.inbox.drain()
	}
}

func (s *Server) locked(fn func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fn()
}

// deliver queues a node for a device until the device acknowledges it, and
// sends it if the device is connected.
func (b *batch) deliver(d *Device, n node) {
	if d.removed {
		return
	}
	d.deliveries.queue = append(d.deliveries.queue, &queued{node: n})
	switch c := d.conn; {
	case d.number == 0:
		b.due = append(b.due, d.phone)
	case c != nil && c.active && !c.deaf && !b.s.deaf:
		c.send(n)
	}
	d.changed.ring()
}

// pass sends a node that is not queued: presence, typing.
func (b *batch) pass(d *Device, n node) {
	switch c := d.conn; {
	case d.number == 0:
		b.deliver(d, n)
	case c != nil && c.active && !c.deaf && !b.s.deaf:
		c.send(n)
	}
}

// deliveryQueue holds what waits for a device's acknowledgement, and its
// acknowledgements. The server's lock guards it.
type deliveryQueue struct {
	queue []*queued
	acks  []Ack
	acked map[string]int // indexes of acks, by id
}

// acknowledge records an acknowledgement, and removes the node from the queue
// unless keep is set.
func (q *deliveryQueue) acknowledge(a Ack, n *node, keep bool) {
	a.At = time.Now()
	if q.acked == nil {
		q.acked = map[string]int{}
	}
	q.acked[a.ID] = len(q.acks)
	q.acks = append(q.acks, a)
	if !keep {
		at := slices.IndexFunc(q.queue, func(one *queued) bool { return one.isMeant(a.Kind, n) })
		if at >= 0 {
			q.queue = slices.Delete(q.queue, at, at+1)
		}
	}
}

// isMeant reports whether n acknowledges the node.
func (q *queued) isMeant(kind string, n *node) bool {
	return q.node.Tag == kind && str(&q.node, "id") == str(n, "id") &&
		jid(&q.node, "from") == jid(n, "to") && jid(&q.node, "participant") == jid(n, "participant") &&
		(kind != "receipt" || str(&q.node, "type") == str(n, "type"))
}

// acknowledge records an acknowledgement of the device. s.mu is held.
func (d *Device) acknowledge(a Ack, n *node, keep bool) {
	d.deliveries.acknowledge(a, n, keep)
	d.changed.ring()
}

// Acks returns the client's acknowledgements in order.
func (d *Device) Acks() []Ack {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	return slices.Clone(d.deliveries.acks)
}

// Acked reports whether the client has acknowledged the message with an id,
// which is then not delivered again.
func (d *Device) Acked(id string) bool {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	return d.deliveries.isAcked(id)
}

// AwaitAck waits until the client has acknowledged the message with an id.
func (d *Device) AwaitAck(ctx context.Context, id string) error {
	return d.until(ctx, "done with "+id, func() bool { return d.deliveries.isAcked(id) })
}

// Pending returns the number of nodes that wait for an acknowledgement.
func (d *Device) Pending() int {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	return len(d.deliveries.queue)
}

// AwaitIdle waits until the client has acknowledged everything.
func (d *Device) AwaitIdle(ctx context.Context) error {
	return d.until(ctx, "idle", func() bool { return len(d.deliveries.queue) == 0 })
}

func (q *deliveryQueue) isAcked(id string) bool {
	at, ok := q.acked[id]
	return ok && q.acks[at].Type != "retry"
}

// handleAck records that the client has a notification, a receipt, a call, or a
// message that it could not use.
func (c *conn) handleAck(n *node) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	a := Ack{ID: str(n, "id"), Kind: str(n, "class"), Type: str(n, "type")}
	if at := n.AttrGetter(); a.Kind != "message" {
		a.Error = at.OptionalInt("error")
	} else {
		a.Error, a.Type = at.OptionalInt("error"), ""
	}
	c.device.acknowledge(a, n, false)
}

// flush sends a device that has become active what is queued for it. s.mu is
// held.
func (c *conn) flush() {
	for _, q := range c.device.deliveries.queue {
		c.send(with(q.node, "offline", "0"))
	}
}

// preview counts what is queued for the device by its kind.
func (q *deliveryQueue) preview() attrs {
	kinds := map[string]int{}
	for _, one := range q.queue {
		kinds[one.node.Tag]++
	}
	return attrs{
		"count": len(q.queue), "appdata": 0,
		"message": kinds["message"], "notification": kinds["notification"], "receipt": kinds["receipt"],
	}
}

// inform sends the client information about its connection.
func (c *conn) inform(what string, a attrs) {
	c.send(node{Tag: "ib", Attrs: attrs{"from": types.ServerJID}, Content: []node{{Tag: what, Attrs: a}}})
}
