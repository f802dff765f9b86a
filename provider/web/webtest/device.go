package webtest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"go.mau.fi/whatsmeow/types"
)

// Device is a device that a phone has linked: the session of a client. Its
// methods may be called concurrently.
type Device struct {
	s      *Server
	phone  *Phone
	number uint16 // 0: the phone itself

	// Guarded by the server's lock.
	changed  bell
	noise    [32]byte
	keys     deviceKeys
	conn     *conn
	queue    []*queued
	acks     []Ack
	acked    map[string]int  // places in acks, by id
	frames   map[string]int  // how often a message was sent, by its id
	taken    map[string]bool // ids of messages that were delivered
	faults   []Fault
	refusals []Refusal
	logins   []Login
	online   bool // told so by its presence
	removed  bool
}

// Login is one connection of a device.
type Login struct {
	From, Until time.Time // Until is zero while it lasts
}

// Conflict is a device that was logged in twice at once. The network keeps the
// newer connection and tells the older one that it was replaced. A connection
// that its client has closed is none, although the server may not know yet.
type Conflict struct {
	Device types.JID
	Since  time.Time // login of the older connection
	At     time.Time // login of the newer
	Until  time.Time // end of the older; zero while it lasts
}

// Ack says that a client has acknowledged what was delivered to it.
type Ack struct {
	ID   string
	Kind string // the node's: "message", "receipt", "notification", "call"
	// Type is the receipt's, for a message: "" is delivered, "inactive" the same
	// of a client that is not online, "sender" and "peer_msg" of an own message.
	// "retry" asks for the message again and leaves it unacknowledged.
	Type  string
	Error int // 0: none
	At    time.Time
}

// JID is the device's address by number.
func (d *Device) JID() types.JID { return d.phone.form(d.phone.jid, d.number) }

// LID is the device's address that hides the number.
func (d *Device) LID() types.JID { return d.phone.form(d.phone.lid, d.number) }

// Phone is the phone that linked the device.
func (d *Device) Phone() *Phone { return d.phone }

// Connected says whether the device is logged in.
func (d *Device) Connected() bool {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	return d.conn != nil
}

// AwaitActive waits until the device is logged in and wants its messages.
func (d *Device) AwaitActive(ctx context.Context) error {
	return d.until(ctx, "active", func() bool { return d.conn != nil && d.conn.active })
}

// AwaitGone waits until the device is not connected.
func (d *Device) AwaitGone(ctx context.Context) error {
	return d.until(ctx, "gone", func() bool { return d.conn == nil })
}

// AwaitLogins waits until the device has logged in n times at least.
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

// Removed says whether the device is no longer linked.
func (d *Device) Removed() bool {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	return d.removed
}

// AwaitRemoved waits until the device is no longer linked: its client logged
// out.
func (d *Device) AwaitRemoved(ctx context.Context) error {
	return d.until(ctx, "removed", func() bool { return d.removed })
}

// Online says whether the client has told that it is available.
func (d *Device) Online() bool {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	return d.online
}

// PreKeys is the number of one-time keys that the server has of the device.
func (d *Device) PreKeys() int {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	return len(d.keys.once)
}

// TakePreKeys uses up all but n one-time keys, and tells the client how many
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

// AwaitPreKeys waits until the server has n one-time keys at least.
func (d *Device) AwaitPreKeys(ctx context.Context, n int) error {
	return d.until(ctx, "stocked with keys", func() bool { return len(d.keys.once) >= n })
}

// Sent says how often the client sent the message of that id. It counts what
// the server got, not what was delivered: of an id only the first is.
func (d *Device) Sent(id string) int {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	return d.frames[id]
}

// Drop cuts the device's connection without a word.
func (d *Device) Drop() {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	if d.conn != nil {
		d.conn.drop()
	}
}

// left is called when a connection has ended. s.mu is held.
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
