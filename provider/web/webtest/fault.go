package webtest

import (
	"cmp"
	"slices"

	waBinary "go.mau.fi/whatsmeow/binary"
)

// CodeReachOut is the error of a message to a new contact while the network
// restricts the account.
const CodeReachOut = 463

// Fault describes how the next messages of a device fail.
type Fault struct {
	Times int // number of messages; 0: one, -1: all until [Device.Heal]
	// Code is the error of the answer, see [CodeReachOut]. If Code, Lost and
	// Cut are zero, the message does not fail.
	Code int
	// Lost sends no answer.
	Lost bool
	// Cut closes the connection instead of answering.
	Cut bool
	// Taken delivers the message nevertheless: the answer is lost, not the
	// message.
	Taken bool
}

// Fail adds faults. They are used in order, each for its times.
func (d *Device) Fail(faults ...Fault) {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	for _, f := range faults {
		f.Times = cmp.Or(f.Times, 1)
		d.faults = append(d.faults, f)
	}
}

// Heal removes the faults and refusals that are left, and ends [Device.Deafen].
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

// fault returns the next fault. s.mu is held.
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

// Deafen makes the device's connection read everything and answer nothing. A
// new connection is served normally.
func (d *Device) Deafen() {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	if d.conn != nil {
		d.conn.deaf = true
	}
}

// Deafen makes all connections, also new ones, read everything and answer
// nothing, until [Server.Heal].
func (s *Server) Deafen() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deaf = true
}

// Heal removes the faults and refusals of the server that are left, and ends
// [Server.Deafen]. It closes the connections that were opened in the meantime,
// because the server has not greeted them.
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

// Intercept calls f with every node that a client sends, before it is handled.
// If f returns true, the node is not handled. The device is nil before the
// login. f runs in the connection's reader and may block. A nil f ends the
// interception.
func (s *Server) Intercept(f func(d *Device, n *waBinary.Node) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.intercept = f
}
