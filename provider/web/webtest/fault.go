package webtest

import (
	"slices"

	waBinary "go.mau.fi/whatsmeow/binary"
)

// CodeReachOut is the error of a message to a person who has not written, while
// the network keeps the account from reaching out to new people.
const CodeReachOut = 463

// Fault is how the next messages of a device are treated.
type Fault struct {
	Times int // messages meant; 0: one, -1: all until [Device.Heal]
	// Code is the error of the answer, see [CodeReachOut]; 0: with neither Lost
	// nor Cut there is no fault.
	Code int
	// Lost gives no answer.
	Lost bool
	// Cut ends the connection instead of an answer.
	Cut bool
	// Taken makes the message arrive nevertheless: the answer is lost, not the
	// message.
	Taken bool
}

// Fail adds faults. They are used in their order, each for its times.
func (d *Device) Fail(faults ...Fault) {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	for _, f := range faults {
		if f.Times == 0 {
			f.Times = 1
		}
		d.faults = append(d.faults, f)
	}
}

// Heal drops the faults and refusals that are left, and hears again.
func (d *Device) Heal() {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	d.faults, d.refusals = nil, nil
	if c := d.conn; c != nil && c.deaf {
		c.deaf = false
		if c.active {
			c.flush()
		}
	}
}

// fault takes the first fault that is left. s.mu is held.
func (d *Device) fault() (f Fault) {
	if len(d.faults) == 0 {
		return f
	}
	f = d.faults[0]
	if f.Times > 0 {
		if d.faults[0].Times--; d.faults[0].Times == 0 {
			d.faults = slices.Delete(d.faults, 0, 1)
		}
	}
	return f
}

// Deafen makes the device's connection take everything and answer nothing. A
// new connection is served.
func (d *Device) Deafen() {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	if d.conn != nil {
		d.conn.deaf = true
	}
}

// Deafen makes every connection take everything and answer nothing, new ones
// too, until [Server.Heal].
func (s *Server) Deafen() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deaf = true
}

// Heal drops the faults and refusals of the server that are left, and hears
// again. Connections that came in the meantime are cut, since the server has not
// greeted them.
func (s *Server) Heal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusals = nil
	s.media.heal()
	if !s.deaf {
		return
	}
	s.deaf = false
	for c := range s.conns {
		switch {
		case !c.greeted:
			c.drop()
		case c.active && !c.deaf:
			c.flush()
		}
	}
}

// Intercept calls f with every node that a client sends, before it is handled;
// when f returns true it is not. The device is nil before the login. F runs on
// the connection's reader and may take its time; nil ends it.
func (s *Server) Intercept(f func(d *Device, n *waBinary.Node) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.intercept = f
}
