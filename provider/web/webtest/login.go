package webtest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"go.mau.fi/whatsmeow/types"
)

// Reasons of a [Refusal], as the network numbers them.
const (
	ReasonLoggedOut      = 401 // the device is not linked
	ReasonTemporaryBan   = 402 // with a code and an expiry
	ReasonMainDeviceGone = 403
	ReasonClientOutdated = 405
	ReasonBadUserAgent   = 409
	ReasonInternal       = 500 // a client tries again
	ReasonUnavailable    = 503 // a client tries again
)

// Refusal is how the next logins are refused.
type Refusal struct {
	Times  int           // logins to refuse; 0: one, -1: all until Heal
	Reason int           // what the client is told
	Code   int           // of a temporary ban: 101 … 106
	Expire time.Duration // of a temporary ban
}

// Refuse refuses the next logins of the device.
func (d *Device) Refuse(r Refusal) {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	d.refusals = append(d.refusals, r.normal())
}

// Refuse refuses the next connections, of whatever device and to be paired.
func (s *Server) Refuse(r Refusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusals = append(s.refusals, r.normal())
}

func (r Refusal) normal() Refusal {
	if r.Times == 0 {
		r.Times = 1
	}
	return r
}

// refuse takes the first refusal that is left.
func refuse(list *[]Refusal) (Refusal, bool) {
	if len(*list) == 0 {
		return Refusal{}, false
	}
	r := (*list)[0]
	if r.Times--; r.Times == 0 {
		*list = slices.Delete(*list, 0, 1)
	} else if r.Times > 0 {
		(*list)[0] = r
	}
	return r, true
}

func (r *Refusal) node() node {
	a := attrs{"reason": r.Reason, "location": "webtest"}
	if r.Reason == ReasonTemporaryBan {
		a["code"], a["expire"] = r.Code, int64(r.Expire/time.Second)
	}
	return node{Tag: "failure", Attrs: a}
}

// begin answers the client's payload: a new device is offered to be paired, a
// known one is logged in.
func (c *conn) begin() {
	c.s.mu.Lock()
	refusal, refused := refuse(&c.s.refusals)
	deaf := c.s.deaf
	c.greeted = !deaf
	c.s.mu.Unlock()
	switch {
	case deaf:
		return
	case refused:
		c.farewell(refusal.node())
	case c.stream.payload.GetDevicePairingData() != nil:
		c.offerPairing()
	default:
		c.login()
	}
}

func (c *conn) login() {
	s := c.s
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.device(types.JID{
		User: fmt.Sprint(c.stream.payload.GetUsername()), Device: uint16(c.stream.payload.GetDevice()), Server: types.DefaultUserServer,
	})
	if d == nil || d.number == 0 || d.noise != c.stream.noise {
		c.farewell((&Refusal{Reason: ReasonLoggedOut}).node())
		return
	}
	if refusal, refused := refuse(&d.refusals); refused {
		c.farewell(refusal.node())
		return
	}
	c.opened = time.Now()
	if old := d.conn; old != nil {
		old.conflict = &Conflict{Device: d.JID(), Since: old.opened, At: c.opened}
		old.farewell(conflict("replaced"))
	} else {
		s.live++
	}
	d.conn, c.device = c, d
	d.logins = append(d.logins, Login{From: c.opened})
	c.send(node{Tag: "success", Attrs: attrs{"lid": d.LID(), "t": time.Now().Unix(), "location": "webtest"}})
	d.changed.ring()
	s.changed.ring()
}

// Conflicts returns the devices that were logged in twice at once. One is known
// when the older client has answered, or has not gone within five seconds.
func (s *Server) Conflicts() []Conflict {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []Conflict
	for _, c := range s.conflicts {
		list = append(list, *c)
	}
	return list
}

// AwaitConflicts waits until n conflicts at least are known.
func (s *Server) AwaitConflicts(ctx context.Context, n int) error {
	if err := s.until(ctx, &s.changed, func() bool { return len(s.conflicts) >= n }); err != nil {
		return fmt.Errorf("webtest: %d of %d conflicts: %w", len(s.Conflicts()), n, err)
	}
	return nil
}

func conflict(kind string) node {
	a := attrs{}
	if kind == "device_removed" {
		a["code"] = "401"
	}
	return node{Tag: "stream:error", Attrs: a, Content: []node{{Tag: "conflict", Attrs: attrs{"type": kind}}}}
}

// Replace tells the device's client that its session was opened elsewhere. It
// is no [Conflict].
func (d *Device) Replace() { d.farewell(conflict("replaced")) }

// Restart tells the client to connect again.
func (d *Device) Restart() { d.StreamError("515") }

// StreamError ends the connection with a code: "515" asks to connect again,
// "503" is an outage.
func (d *Device) StreamError(code string) {
	n := node{Tag: "stream:error", Attrs: attrs{"code": code}}
	if code != "515" {
		d.farewell(n)
		return
	}
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	if d.conn != nil {
		d.conn.leave(n)
	}
}

func (d *Device) farewell(n node) {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	if d.conn != nil {
		d.conn.farewell(n)
	}
}

// Remove unlinks the device, as its owner can on the phone: a client that is
// connected is told, another when it logs in.
func (d *Device) Remove() {
	d.farewell(conflict("device_removed"))
	d.unlink()
}

func (d *Device) unlink() {
	d.s.deliveries(func(b *batch) {
		delete(d.phone.devices, d.number)
		d.removed = true
		d.deliveries.queue = nil
		d.changed.ring()
		b.devicesChanged(d.phone)
	})
}

// activate starts the delivery of what waits, and tells how much that was.
func (c *conn) activate() {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	count := len(c.device.deliveries.queue)
	if count > 0 {
		c.inform("offline_preview", c.device.deliveries.preview())
	}
	c.flush()
	c.active = true
	c.inform("offline", attrs{"count": count})
	c.device.changed.ring()
	c.s.changed.ring()
}
