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
	Number string // digits with the country code; "": a number that is free
	Name   string // the name that others see; "": none
	// Hidden hides the number from accounts that do not know it, until
	// [Phone.Reveal]: they see only the LID.
	Hidden bool
	// Passkey makes the phone require a passkey to link a device.
	Passkey bool
	// ForgetsHandoff makes the phone not continue after the first answer of a
	// passkey. After another answer its owner has to compare a code.
	ForgetsHandoff bool
	// InviteOnly makes adding the phone to a group fail: it has to be invited.
	InviteOnly bool
	// NoReadReceipts keeps read receipts between the devices of the account.
	NoReadReceipts bool
	// Resends makes the phone send its linked devices, on request, the messages
	// that they could not decrypt. The sender of a message also resends it. A
	// client can send requests after the phone has sent it a message: see
	// [Phone.ShareMappings].
	Resends bool
	// Offline makes the phone receive nothing until [Phone.SetOnline].
	Offline bool
}

// Phone is an account with its main device: a contact, or the owner of linked
// devices. It decrypts the messages that it receives, and acknowledges them. Its
// methods may be called concurrently.
type Phone struct {
	s    *Server
	opts PhoneOptions
	jid  types.JID // by number
	lid  types.JID
	self *Device // the phone itself, number 0
	*vault
	inbox    *phoneInbox
	outbox   *phoneOutbox
	requests *deviceRequests
	calls    *PhoneCalls
	groups   *PhoneGroups
	passkey  *Passkey // nil: none is required

	// Guarded by the server's lock.
	changed     bell
	devices     map[uint16]*Device
	lastDevice  uint16
	revealed    bool
	online      bool                 // receives what is delivered
	shown       bool                 // as online, to the subscribers of its presence
	watchers    map[*Device]struct{} // devices that know its list of devices
	subscribers map[*Device]types.JID
	state       collections
}

// Groups manages the groups of the phone's account.
func (p *Phone) Groups() *PhoneGroups { return p.groups }

// Calls makes the calls of the phone.
func (p *Phone) Calls() *PhoneCalls { return p.calls }

// AddPhone creates an account. It panics when the number is taken or invalid.
func (s *Server) AddPhone(o *PhoneOptions) *Phone {
	if o == nil {
		o = &PhoneOptions{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	opts := *o
	opts.Number = cmp.Or(opts.Number, fmt.Sprintf("1555%07d", len(s.phones)+1))
	if s.phones[opts.Number] != nil || !isNumber(opts.Number) {
		panic(fmt.Sprintf("webtest: the number %q is taken or invalid", opts.Number))
	}
	p := &Phone{
		s: s, opts: opts,
		jid:      types.NewJID(opts.Number, types.DefaultUserServer),
		lid:      types.NewJID("9000"+opts.Number, types.HiddenUserServer),
		vault:    newVault(),
		devices:  map[uint16]*Device{},
		revealed: !opts.Hidden,
		online:   !opts.Offline,

		watchers:    map[*Device]struct{}{},
		subscribers: map[*Device]types.JID{},
	}
	p.inbox = &phoneInbox{p: p, byID: map[messageKey]*Message{}, reported: map[receiptKey]Receipt{}}
	p.outbox = &phoneOutbox{p: p, sent: map[string]*outgoing{}}
	p.requests, p.calls, p.groups = &deviceRequests{p}, &PhoneCalls{p: p}, &PhoneGroups{p}
	if p.opts.Passkey {
		p.passkey = newPasskey(p)
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

// JID returns the account's address with its number.
func (p *Phone) JID() types.JID { return p.jid }

// LID returns the account's address that hides the number.
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

// SetOnline makes the phone receive what is delivered to it, what is queued
// first, or stops it from receiving.
func (p *Phone) SetOnline(online bool) {
	p.s.mu.Lock()
	p.online = online
	p.s.mu.Unlock()
	p.inbox.drain()
}

// Reveal stops hiding the number: later messages of the phone contain it.
func (p *Phone) Reveal() {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	p.revealed = true
}

// SetName changes the name that others see. The next message contains it.
func (p *Phone) SetName(name string) {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	p.opts.Name = name
}

// Reinstall resets the phone: it has new keys and no linked devices, and cannot
// decrypt what was sent before. Accounts that wrote to it are notified.
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

// other returns the account's LID if j is a number, and its number if j is a LID;
// empty when the number is hidden. s.mu is held.
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

// form returns the account's address in the form of j, as a number or LID.
func (p *Phone) form(j types.JID, device uint16) types.JID {
	o := p.jid
	if j.Server == types.HiddenUserServer {
		o = p.lid
	}
	o.Device = device
	return o
}

// phone returns the account with a number or LID, or nil. s.mu is held.
func (s *Server) phone(j types.JID) *Phone {
	switch j.Server {
	case types.HiddenUserServer:
		return s.lids[j.User]
	case types.DefaultUserServer:
		return s.phones[j.User]
	}
	return nil
}

// device returns the device with a number or LID, or nil. s.mu is held.
func (s *Server) device(j types.JID) *Device {
	if p := s.phone(j); p != nil {
		return p.devices[j.Device]
	}
	return nil
}
