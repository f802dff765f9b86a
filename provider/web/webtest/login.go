package webtest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"go.mau.fi/whatsmeow/types"
)

// Reasons of a [Refusal], as the network defines them.
const (
	ReasonLoggedOut      = 401 // the device is not linked
	ReasonTemporaryBan   = 402 // with a code and an expiry
	ReasonMainDeviceGone = 403
	ReasonClientOutdated = 405
	ReasonBadUserAgent   = 409
	ReasonInternal       = 500 // clients retry
	ReasonUnavailable    = 503 // clients retry
)

// Refusal describes how the next logins are refused.
type Refusal struct {
	Times  int           // number of logins; 0: one, -1: all until Heal
	Reason int           // the reason that the client gets
	Code   int           // of a temporary ban: 101 to 106
	Expire time.Duration // of a temporary ban
}

// Refuse makes the next logins of the device fail.
func (d *Device) Refuse(r Refusal) {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	d.refusals = append(d.refusals, r.normal())
}

// Refuse makes the next connections fail, also those of clients that are not
// linked.
func (s *Server) Refuse(r Refusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusals = append(s.refusals, r.normal())
}

func (r Refusal) normal() Refusal {
	r.Times = cmp.Or(r.Times, 1)
	return r
}

// refuse returns the next refusal.
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

// begin answers the client's payload. It offers pairing to a new device, and
// logs in a known one.
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
	case c.payload.GetDevicePairingData() != nil:
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
		User: fmt.Sprint(c.payload.GetUsername()), Device: uint16(c.payload.GetDevice()), Server: types.DefaultUserServer,
	})
	if d == nil || d.number == 0 || d.noise != c.noise {
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

// Conflicts returns the devices that were logged in twice at the same time. A
// conflict is recorded when the older client has answered, or is still
// connected after five seconds.
func (s *Server) Conflicts() []Conflict {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []Conflict
	for _, c := range s.conflicts {
		list = append(list, *c)
	}
	return list
}

// AwaitConflicts waits until at least n conflicts are recorded.
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
// records no [Conflict].
func (d *Device) Replace() { d.farewell(conflict("replaced")) }

// Restart tells the client to reconnect.
func (d *Device) Restart() { d.StreamError("515") }

// StreamError ends the connection with a code: "515" makes the client
// reconnect, "503" is an outage.
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

// Remove unlinks the device, as its owner can do on the phone. A connected
// client is notified at once, another one when it logs in.
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

// activate starts to deliver what is queued, and tells the client how much that
// is.
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
