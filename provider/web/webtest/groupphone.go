package webtest

import (
	"context"
	"fmt"
	"slices"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"
)

// GroupOptions describes a group that a phone makes.
type GroupOptions struct {
	Subject string
	Members []*Phone // beside who makes it
	// ByNumber makes members know each other by number, as in old groups; else
	// by LID.
	ByNumber bool
}

// GroupInfo is what a group is.
type GroupInfo struct {
	JID     types.JID
	Subject string
	Topic   string
	Members []types.JID // as the group addresses them
	Admins  []types.JID
	Invite  string // code of its link
}

// CreateGroup makes a group, and tells its members.
func (p *Phone) CreateGroup(o GroupOptions) types.JID {
	var j types.JID
	p.s.deliveries(func(b *batch) {
		g := p.s.newGroup(p, o.Subject, !o.ByNumber)
		for _, m := range o.Members {
			g.members = append(g.members, &member{phone: m})
		}
		b.welcome(g, p, o.Members, "")
		for _, d := range p.companions() {
			b.publish(g, p, []*Device{d}, node{Tag: "create", Attrs: attrs{"type": "new", "key": b.s.id()}, Content: []node{g.node()}})
		}
		j = g.jid
	})
	return j
}

// AddToGroup adds members to a group of the phone's.
func (p *Phone) AddToGroup(j types.JID, members ...*Phone) error {
	return p.changeGroup(j, "add", members)
}

// RemoveFromGroup removes members from a group of the phone's.
func (p *Phone) RemoveFromGroup(j types.JID, members ...*Phone) error {
	return p.changeGroup(j, "remove", members)
}

// Promote makes members of a group its admins.
func (p *Phone) Promote(j types.JID, members ...*Phone) error {
	return p.changeGroup(j, "promote", members)
}

// LeaveGroup makes the phone leave.
func (p *Phone) LeaveGroup(j types.JID) error {
	return p.changeGroup(j, "remove", []*Phone{p})
}

// RenameGroup changes a group's name.
func (p *Phone) RenameGroup(j types.JID, subject string) error {
	return p.inGroup(j, func(b *batch, g *group) { b.rename(g, p, subject) })
}

// JoinGroup joins by the code of an invitation.
func (p *Phone) JoinGroup(invite string) error {
	err := fmt.Errorf("webtest: no group under the invitation %q", invite)
	p.s.deliveries(func(b *batch) {
		if g := p.s.invites[invite]; g != nil {
			b.join(g, p)
			err = nil
		}
	})
	return err
}

func (p *Phone) changeGroup(j types.JID, what string, members []*Phone) error {
	return p.inGroup(j, func(b *batch, g *group) {
		var asked []types.JID
		for _, m := range members {
			asked = append(asked, g.form(m))
		}
		b.changeMembers(g, p, what, asked)
	})
}

func (p *Phone) inGroup(j types.JID, fn func(b *batch, g *group)) error {
	err := fmt.Errorf("webtest: %s is in no group %s", p.jid, j)
	p.s.deliveries(func(b *batch) {
		if g := p.s.groups[j.User]; g != nil && g.member(p) != nil {
			fn(b, g)
			err = nil
		}
	})
	return err
}

// Group tells what a group is; ok says whether there is one.
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

// sealForGroup encrypts a message once for all, and the key for that to each
// device which has not got it yet.
func (p *Phone) sealForGroup(ctx context.Context, o *outgoing) (*node, error) {
	p.s.mu.Lock()
	g := p.s.groups[o.To.User]
	if g == nil || g.member(p) == nil {
		p.s.mu.Unlock()
		return nil, fmt.Errorf("it is in no group %s", o.To)
	}
	if g.keyed[p] == nil {
		g.keyed[p] = map[*Device]bool{p.self: true}
	}
	missing := slices.DeleteFunc(g.devices(), func(d *Device) bool { return g.keyed[p][d] })
	for _, d := range missing {
		g.keyed[p][d] = true
	}
	p.s.mu.Unlock()
	o.group = g
	key, err := p.groupKeyMessage(ctx, g)
	if err != nil {
		return nil, err
	}
	damage := o.damage
	o.damage = 0 // the keys arrive
	keys, err := p.sealEach(ctx, o, missing, key)
	if err != nil {
		return nil, err
	}
	plain, err := proto.Marshal(o.Message)
	if err != nil {
		return nil, err
	}
	p.lock.Lock()
	enc, err := p.encryptForGroup(ctx, g.jid, p.lid, plain)
	p.lock.Unlock()
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

// groupKeyMessage is the message that brings the phone's key for a group.
func (p *Phone) groupKeyMessage(ctx context.Context, g *group) (*waE2E.Message, error) {
	p.lock.Lock()
	defer p.lock.Unlock()
	key, err := p.groupKey(ctx, g.jid, p.lid)
	if err != nil {
		return nil, err
	}
	return &waE2E.Message{SenderKeyDistributionMessage: &waE2E.SenderKeyDistributionMessage{
		GroupID: proto.String(g.jid.String()), AxolotlSenderKeyDistributionMessage: key,
	}}, nil
}
