package webtest

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"go.mau.fi/whatsmeow/types"
)

// PhoneOptions configures a [Phone]. Nil and the zero value mean the defaults.
type PhoneOptions struct {
	Number string // digits with the country code; "": one that is free
	Name   string // the name that others see; "": none
	// Hidden keeps the number from those who do not know it: they see the LID
	// alone, until [Phone.Reveal].
	Hidden bool
	// Passkey makes the phone ask for a passkey before it links a device.
	Passkey bool
	// InviteOnly makes adding it to a group fail: it must be invited.
	InviteOnly bool
	// NoReadReceipts makes the account tell no one what it has read, but its own
	// devices.
	NoReadReceipts bool
	// Resends makes the phone give its linked devices, when they ask it, the
	// messages that they could not decrypt, beside what the sender does. A
	// client can ask once the phone has written to it: see
	// [Phone.ShareMappings].
	Resends bool
	// Offline makes the phone get nothing until [Phone.SetOnline].
	Offline bool
}

// Phone is an account with its main device: a contact that writes, or the owner
// of a linked device. It decrypts what it gets, and says that it got it. Its
// methods may be called concurrently.
type Phone struct {
	s    *Server
	opts PhoneOptions
	jid  types.JID // by number
	lid  types.JID
	self *Device // the phone itself, number 0
	*vault

	// Guarded by the server's lock.
	changed       bell
	devices       map[uint16]*Device
	lastDevice    uint16
	revealed      bool
	online        bool // gets what is delivered
	shown         bool // to those who subscribed to its presence
	draining      bool
	undecryptable int // messages that it will not be able to decrypt
	messages      []*Message
	byID          map[messageKey]*Message
	untaken       []*Message // not returned by Await
	receipts      []Receipt
	reported      map[receiptKey]Receipt // the first of its kind
	typings       []Typing
	rejected      []string             // ids of calls
	sent          map[string]*outgoing // for those who could not decrypt, by id
	watchers      map[*Device]struct{} // of its list of devices
	subscribers   map[*Device]types.JID
	state         collections
}

// AddPhone makes an account. It panics when the number is taken or is none.
func (s *Server) AddPhone(o *PhoneOptions) *Phone {
	if o == nil {
		o = &PhoneOptions{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	opts := *o
	opts.Number = cmp.Or(opts.Number, fmt.Sprintf("1555%07d", len(s.phones)+1))
	if s.phones[opts.Number] != nil || !isNumber(opts.Number) {
		panic(fmt.Sprintf("webtest: %q is taken, or no number", opts.Number))
	}
	p := &Phone{
		s: s, opts: opts,
		jid:         types.NewJID(opts.Number, types.DefaultUserServer),
		lid:         types.NewJID("9000"+opts.Number, types.HiddenUserServer),
		vault:       newVault(),
		devices:     map[uint16]*Device{},
		revealed:    !opts.Hidden,
		online:      !opts.Offline,
		byID:        map[messageKey]*Message{},
		reported:    map[receiptKey]Receipt{},
		sent:        map[string]*outgoing{},
		watchers:    map[*Device]struct{}{},
		subscribers: map[*Device]types.JID{},
	}
	p.self = &Device{s: s, phone: p, keys: p.public()}
	p.devices[0] = p.self
	s.phones[p.jid.User], s.lids[p.lid.User] = p, p
	return p
}

func isNumber(s string) bool {
	return len(s) >= 7 && len(s) <= 15 && s[0] != '0' &&
		!slices.ContainsFunc([]byte(s), func(b byte) bool { return b < '0' || b > '9' })
}

// JID is the account's address by number.
func (p *Phone) JID() types.JID { return p.jid }

// LID is the account's address that hides the number.
func (p *Phone) LID() types.JID { return p.lid }

// Devices returns the linked devices in the order of their linking.
func (p *Phone) Devices() []*Device {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	return p.companions()
}

// companions are the linked devices in order. s.mu is held.
func (p *Phone) companions() []*Device {
	var list []*Device
	for n := uint16(1); n <= p.lastDevice; n++ {
		if d := p.devices[n]; d != nil {
			list = append(list, d)
		}
	}
	return list
}

// everyDevice is the phone and its linked devices in order. s.mu is held.
func (p *Phone) everyDevice() []*Device { return append([]*Device{p.self}, p.companions()...) }

// SetOnline makes the phone get what is delivered to it, what waits first, or
// stop to.
func (p *Phone) SetOnline(online bool) {
	p.s.mu.Lock()
	p.online = online
	p.s.mu.Unlock()
	p.drain()
}

// Reveal ends the hiding of the number: from now on what the phone sends
// carries it.
func (p *Phone) Reveal() {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	p.revealed = true
}

// SetName changes the name that others see, with the next message.
func (p *Phone) SetName(name string) {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	p.opts.Name = name
}

// Reinstall makes the phone begin again: with new keys, no linked devices, and
// unable to read what was sent before. Those who wrote to it are told.
func (p *Phone) Reinstall() {
	p.lock.Lock()
	p.s.mu.Lock()
	p.renew()
	p.self.keys = p.public()
	linked := p.companions()
	p.s.mu.Unlock()
	p.lock.Unlock()
	for _, d := range linked {
		d.Remove()
	}
	p.s.deliveries(func(b *batch) {
		for _, g := range p.s.groups {
			delete(g.keyed, p)
		}
		for d := range p.watchers {
			b.deliver(d, node{
				Tag:     "notification",
				Attrs:   attrs{"from": p.jid, "type": "encrypt", "id": p.s.id(), "t": time.Now().Unix()},
				Content: []node{{Tag: "identity"}},
			})
		}
	})
}

// other is the account's address in the other form than j's; empty when the
// number is not told. s.mu is held.
func (p *Phone) other(j types.JID, device uint16) types.JID {
	o := p.lid
	if j.Server == types.HiddenUserServer {
		if !p.revealed {
			return types.EmptyJID
		}
		o = p.jid
	}
	o.Device = device
	return o
}

// form is the account's address in the same form as j.
func (p *Phone) form(j types.JID, device uint16) types.JID {
	o := p.jid
	if j.Server == types.HiddenUserServer {
		o = p.lid
	}
	o.Device = device
	return o
}

// phone finds an account by either address. s.mu is held.
func (s *Server) phone(j types.JID) *Phone {
	switch j.Server {
	case types.HiddenUserServer:
		return s.lids[j.User]
	case types.DefaultUserServer:
		return s.phones[j.User]
	}
	return nil
}

// device finds a device by either address. s.mu is held.
func (s *Server) device(j types.JID) *Device {
	if p := s.phone(j); p != nil {
		return p.devices[j.Device]
	}
	return nil
}
