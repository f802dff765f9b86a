package webtest

import (
	"context"
	"fmt"
	"slices"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"
)

// GroupOptions describes a group to create.
type GroupOptions struct {
	Subject string
	Members []*Phone // other members than the creator
	// ByNumber shows members each other's numbers, as in old groups, instead of
	// their LIDs.
	ByNumber bool
}

// GroupInfo describes a group.
type GroupInfo struct {
	JID     types.JID
	Subject string
	Topic   string
	Members []types.JID // numbers or LIDs, as the group addresses them
	Admins  []types.JID
	Invite  string // code of its invite link
}

// PhoneGroups creates and changes groups as a [Phone].
type PhoneGroups struct{ p *Phone }

// Create creates a group and notifies its members.
func (pg *PhoneGroups) Create(o GroupOptions) types.JID {
	var j types.JID
	pg.p.s.deliveries(func(b *batch) {
		g := pg.p.s.newGroup(pg.p, o.Subject, !o.ByNumber)
		for _, m := range o.Members {
			g.members = append(g.members, &member{phone: m})
		}
		b.welcome(g, pg.p, o.Members, "")
		for _, d := range pg.p.companions() {
			b.publish(g, pg.p, []*Device{d}, node{Tag: "create", Attrs: attrs{"type": "new", "key": b.s.id()}, Content: []node{g.node()}})
		}
		j = g.jid
	})
	return j
}

// Add adds members to a group.
func (pg *PhoneGroups) Add(j types.JID, members ...*Phone) error {
	return pg.change(j, "add", members)
}

// Remove removes members from a group.
func (pg *PhoneGroups) Remove(j types.JID, members ...*Phone) error {
	return pg.change(j, "remove", members)
}

// Promote makes members admins of a group.
func (pg *PhoneGroups) Promote(j types.JID, members ...*Phone) error {
	return pg.change(j, "promote", members)
}

// Leave removes the phone from a group.
func (pg *PhoneGroups) Leave(j types.JID) error {
	return pg.change(j, "remove", []*Phone{pg.p})
}

// Rename changes the name of a group.
func (pg *PhoneGroups) Rename(j types.JID, subject string) error {
	return pg.in(j, func(b *batch, g *group) { b.rename(g, pg.p, subject) })
}

// Join joins the group of an invite code.
func (pg *PhoneGroups) Join(invite string) error {
	err := fmt.Errorf("webtest: no group has the invite code %q", invite)
	pg.p.s.deliveries(func(b *batch) {
		if g := pg.p.s.invites[invite]; g != nil {
			b.join(g, pg.p)
			err = nil
		}
	})
	return err
}

func (pg *PhoneGroups) change(j types.JID, what string, members []*Phone) error {
	return pg.in(j, func(b *batch, g *group) {
		var asked []types.JID
		for _, m := range members {
			asked = append(asked, g.form(m))
		}
		b.changeMembers(g, pg.p, what, asked)
	})
}

func (pg *PhoneGroups) in(j types.JID, fn func(b *batch, g *group)) error {
	err := fmt.Errorf("webtest: %s is not in the group %s", pg.p.jid, j)
	pg.p.s.deliveries(func(b *batch) {
		if g := pg.p.s.groups[j.User]; g != nil && g.member(pg.p) != nil {
			fn(b, g)
			err = nil
		}
	})
	return err
}

// Group describes a group. ok is false if it does not exist.
func (s *Server) Group(j types.JID) (info GroupInfo, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.groups[j.User]
	if g == nil || j.Server != types.GroupServer {
		return info, false
	}
	info = GroupInfo{JID: g.jid, Subject: g.subject, Topic: g.topic, Invite: g.invite}
	for _, m := range g.members {
		info.Members = append(info.Members, g.form(m.phone))
		if m.admin {
			info.Admins = append(info.Admins, g.form(m.phone))
		}
	}
	return info, true
}

// sealForGroup encrypts a message once for a group, and the group key for each
// device that does not have it yet.
func (ob *phoneOutbox) sealForGroup(ctx context.Context, o *outgoing) (*node, error) {
	ob.p.s.mu.Lock()
	g := ob.p.s.groups[o.To.User]
	if g == nil || g.member(ob.p) == nil {
		ob.p.s.mu.Unlock()
		return nil, fmt.Errorf("it is not in the group %s", o.To)
	}
	if g.keyed[ob.p] == nil {
		g.keyed[ob.p] = map[*Device]bool{ob.p.self: true}
	}
	missing := slices.DeleteFunc(g.devices(), func(d *Device) bool { return g.keyed[ob.p][d] })
	for _, d := range missing {
		g.keyed[ob.p][d] = true
	}
	ob.p.s.mu.Unlock()
	o.group = g
	key, err := ob.p.groupKeyMessage(ctx, g, ob.p.lid)
	if err != nil {
		return nil, err
	}
	damage := o.damage
	o.damage = 0 // the keys are not damaged
	keys, err := ob.sealEach(ctx, o, missing, key)
	if err != nil {
		return nil, err
	}
	plain, err := proto.Marshal(o.Message)
	if err != nil {
		return nil, err
	}
	ob.p.lock.Lock()
	enc, err := ob.p.encryptForGroup(ctx, g.jid, ob.p.lid, plain)
	ob.p.lock.Unlock()
	if err != nil {
		return nil, err
	}
	if media := mediaOf(o.Message); media != "" {
		enc.Attrs["mediatype"] = media
	}
	if sealed := body(enc); damage > 0 {
		sealed[len(sealed)-1] ^= 1
		damage--
	}
	o.damage = damage
	return o.node([]node{{Tag: "participants", Content: keys}, enc}), nil
}

// groupKeyMessage returns the message with own's key for a group.
func (v *vault) groupKeyMessage(ctx context.Context, g *group, own types.JID) (*waE2E.Message, error) {
	v.lock.Lock()
	defer v.lock.Unlock()
	key, err := v.groupKey(ctx, g.jid, own)
	if err != nil {
		return nil, err
	}
	return &waE2E.Message{SenderKeyDistributionMessage: &waE2E.SenderKeyDistributionMessage{
		GroupID: proto.String(g.jid.String()), AxolotlSenderKeyDistributionMessage: key,
	}}, nil
}
