package webtest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"go.mau.fi/whatsmeow/types"
)

// Device is a device that a phone has linked, which a client uses. Its methods
// may be called concurrently.
type Device struct {
	s      *Server
	phone  *Phone
	number uint16 // 0: the phone itself

	// Guarded by the server's lock.
	changed    bell
	noise      [32]byte
	keys       deviceKeys
	conn       *conn
	deliveries deliveryQueue
	frames     map[string]int  // how often the client sent a message, by its id
	taken      map[string]bool // ids of messages that were delivered
	faults     []Fault
	refusals   []Refusal
	logins     []Login
	online     bool // as its client says
	removed    bool
}

// Login is one connection of a device.
type Login struct {
	From, Until time.Time // Until is zero while it lasts
}

// Conflict says that a device was logged in twice at the same time. The network
// keeps the newer connection and tells the older one that it was replaced. It is
// no conflict when the client has closed the older connection but the server has
// not noticed yet.
type Conflict struct {
	Device types.JID
	Since  time.Time // login of the older connection
	At     time.Time // login of the newer
	Until  time.Time // end of the older; zero while it lasts
}

// Ack is a client's acknowledgement of a node.
type Ack struct {
	ID   string
	Kind string // of the node: "message", "receipt", "notification", "call"
	// Type is the type of the receipt for a message. "" means delivered;
	// "inactive" means delivered to a client that is not online; "sender" and
	// "peer_msg" acknowledge messages of the account itself. "retry" asks for the
	// message again and does not acknowledge it.
	Type  string
	Error int // 0: none
	At    time.Time
}

// JID returns the device's address with the account's number.
func (d *Device) JID() types.JID { return d.phone.form(d.phone.jid, d.number) }

// LID returns the device's address that hides the number.
func (d *Device) LID() types.JID { return d.phone.form(d.phone.lid, d.number) }

// Phone returns the phone that linked the device.
func (d *Device) Phone() *Phone { return d.phone }

// Connected reports whether the device is logged in.
func (d *Device) Connected() bool {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	return d.conn != nil
}

// AwaitActive waits until the device is logged in and receives its messages.
func (d *Device) AwaitActive(ctx context.Context) error {
	return d.until(ctx, "active", func() bool { return d.conn != nil && d.conn.active })
}

// AwaitGone waits until the device is not connected.
func (d *Device) AwaitGone(ctx context.Context) error {
	return d.until(ctx, "gone", func() bool { return d.conn == nil })
}

// AwaitLogins waits until the device has logged in at least n times.
func (d *Device) AwaitLogins(ctx context.Context, n int) error {
	return d.until(ctx, "logged in often enough", func() bool { return len(d.logins) >= n })
}

func (d *Device) until(ctx context.Context, what string, ready func() bool) error {
	if err := d.s.until(ctx, &d.changed, ready); err != nil {
		return fmt.Errorf("webtest: %s is not %s: %w", d.JID(), what, err)
	}
	return nil
}

// Logins returns the device's connections in their order.
func (d *Device) Logins() []Login {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	return slices.Clone(d.logins)
}

// Removed reports whether the device is no longer linked.
func (d *Device) Removed() bool {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	return d.removed
}

// AwaitRemoved waits until the device is no longer linked, because its client
// logged out.
func (d *Device) AwaitRemoved(ctx context.Context) error {
	return d.until(ctx, "removed", func() bool { return d.removed })
}

// Online reports whether the client has sent that it is available.
func (d *Device) Online() bool {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	return d.online
}

// PreKeys returns how many one-time keys of the device the server has.
func (d *Device) PreKeys() int {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	return len(d.keys.once)
}

// TakePreKeys removes all but n one-time keys, and notifies the client how many
// are left.
func (d *Device) TakePreKeys(n int) {
	d.s.deliveries(func(b *batch) {
		d.keys.once = d.keys.once[max(0, len(d.keys.once)-n):]
		b.deliver(d, node{
			Tag:     "notification",
			Attrs:   attrs{"from": types.ServerJID, "type": "encrypt", "id": d.s.id(), "t": time.Now().Unix()},
			Content: []node{{Tag: "count", Attrs: attrs{"value": len(d.keys.once)}}},
		})
	})
}

// AwaitPreKeys waits until the server has at least n one-time keys.
func (d *Device) AwaitPreKeys(ctx context.Context, n int) error {
	return d.until(ctx, "stocked with keys", func() bool { return len(d.keys.once) >= n })
}

// Sent returns how often the client sent the message with an id. The server
// delivers only the first one.
func (d *Device) Sent(id string) int {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	return d.frames[id]
}

// Drop closes the device's connection without notice.
func (d *Device) Drop() {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	if d.conn != nil {
		d.conn.drop()
	}
}

// left records that a connection has ended. s.mu is held.
func (d *Device) left(c *conn) {
	for i := range d.logins {
		if d.logins[i].Until.IsZero() && d.logins[i].From.Equal(c.opened) {
			d.logins[i].Until = time.Now()
		}
	}
	if d.conn == c {
		d.conn, d.online = nil, false
		d.s.live--
	}
	d.changed.ring()
}
