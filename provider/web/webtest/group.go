package webtest

import (
	"fmt"
	"slices"
	"time"

	"go.mau.fi/whatsmeow/types"
)

// group is a group, guarded by the server's lock.
type group struct {
	jid     types.JID
	byLID   bool // members see each other's LIDs
	subject string
	topic   string
	topicID string
	creator *Phone
	created time.Time
	members []*member
	invite  string
	flags   map[string]bool // "announcement", "locked"
	keyed   map[*Phone]map[*Device]bool
}

// member is a person in a group.
type member struct {
	phone *Phone
	admin bool
}

// newGroup creates a group with its creator as the only member. s.mu is held.
func (s *Server) newGroup(creator *Phone, subject string, byLID bool) *group {
	s.ids++
	g := &group{
		jid:   types.NewJID(fmt.Sprintf("120363%012d", s.ids), types.GroupServer),
		byLID: byLID, subject: subject, creator: creator, created: time.Now(),
		members: []*member{{phone: creator, admin: true}}, flags: map[string]bool{}, keyed: map[*Phone]map[*Device]bool{},
	}
	s.groups[g.jid.User] = g
	s.newInvite(g)
	return g
}

func (s *Server) newInvite(g *group) {
	delete(s.invites, g.invite)
	g.invite = "WebTest" + newMessageID()[2:]
	s.invites[g.invite] = g
}

// mode returns how the group addresses its members.
func (g *group) mode() string {
	if g.byLID {
		return string(types.AddressingModeLID)
	}
	return string(types.AddressingModePN)
}

// form returns a member's address in the group.
func (g *group) form(p *Phone) types.JID {
	if g.byLID {
		return p.lid
	}
	return p.jid
}

// formIn returns a person's address in a group. s.mu is held.
func (s *Server) formIn(j types.JID, p *Phone) types.JID {
	if g := s.groups[j.User]; g != nil {
		return g.form(p)
	}
	return p.jid
}

func (g *group) member(p *Phone) *member {
	at := slices.IndexFunc(g.members, func(m *member) bool { return m.phone == p })
	if at < 0 {
		return nil
	}
	return g.members[at]
}

// groupDevices returns the devices of a group's members; nil if the group does
// not exist. s.mu is held.
func (s *Server) groupDevices(j types.JID) []*Device {
	g := s.groups[j.User]
	if g == nil || j.Server != types.GroupServer {
		return nil
	}
	return g.devices()
}

func (g *group) devices() []*Device {
	var list []*Device
	for _, m := range g.members {
		list = append(list, m.phone.everyDevice()...)
	}
	return list
}

// node describes the group. s.mu is held.
func (g *group) node() node {
	a := attrs{
		"id": g.jid.User, "subject": g.subject, "creation": g.created.Unix(), "creator": g.form(g.creator),
		"s_t": g.created.Unix(), "s_o": g.form(g.creator), "addressing_mode": g.mode(), "size": len(g.members),
	}
	var content []node
	for _, m := range g.members {
		content = append(content, g.participant(m))
	}
	if g.topic != "" {
		content = append(content, node{
			Tag: "description", Attrs: attrs{"id": g.topicID, "t": g.created.Unix()},
			Content: []node{{Tag: "body", Content: []byte(g.topic)}},
		})
	}
	for _, flag := range []string{"announcement", "locked"} {
		if g.flags[flag] {
			content = append(content, node{Tag: flag})
		}
	}
	return node{Tag: "group", Attrs: a, Content: content}
}

func (g *group) participant(m *member) node {
	a := g.person(m.phone)
	switch {
	case m.phone == g.creator:
		a["type"] = "superadmin"
	case m.admin:
		a["type"] = "admin"
	}
	return node{Tag: "participant", Attrs: a}
}

// person returns a person's address in the group, and the other address if it
// is not hidden.
func (g *group) person(p *Phone) attrs {
	form := g.form(p)
	a := attrs{"jid": form}
	if g.byLID {
		put(a, "phone_number", p.other(form, 0))
	} else {
		a["lid"] = p.lid
	}
	return a
}

// publish notifies devices of a change that a member made.
func (b *batch) publish(g *group, by *Phone, devices []*Device, change node) {
	for _, d := range devices {
		form := g.form(by)
		a := attrs{
			"from": g.jid, "type": "w:gp2", "id": b.s.id(), "t": time.Now().Unix(),
			"participant": form, "addressing_mode": g.mode(),
		}
		put(a, otherParticipant(form), by.other(form, 0))
		put(a, "notify", by.opts.Name)
		b.deliver(d, node{Tag: "notification", Attrs: a, Content: []node{change}})
	}
}

// welcome sends new members the description of the group.
func (b *batch) welcome(g *group, by *Phone, came []*Phone, reason string) {
	for _, p := range came {
		create := node{Tag: "create", Attrs: attrs{"type": "new", "key": b.s.id()}, Content: []node{g.node()}}
		put(create.Attrs, "reason", reason)
		b.publish(g, by, p.everyDevice(), create)
	}
}
