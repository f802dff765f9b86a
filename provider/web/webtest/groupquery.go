package webtest

import (
	"slices"
	"strings"
	"time"

	"go.mau.fi/whatsmeow/types"
)

// groupRequest is a client's query about groups.
type groupRequest struct {
	c        *conn
	b        *batch
	n, child *node // the query and its first child
}

// groupQuery answers a client's query about groups.
func groupQuery(c *conn, n, child *node) {
	c.s.deliveries(func(b *batch) {
		r := &groupRequest{c, b, n, child}
		if to := jid(n, "to"); to.User != "" {
			r.aboutGroup(c.s.groups[to.User])
			return
		}
		switch child.Tag {
		case "create":
			r.create()
		case "participating":
			c.result(n, node{Tag: "groups", Content: r.joined()})
		case "leave":
			r.leave()
		case "invite":
			r.useInvite(c.s.invites[str(child, "code")])
		default:
			r.unknown()
		}
	})
}

func (r *groupRequest) unknown() {
	r.c.s.unknown = append(r.c.s.unknown, "the query of groups "+str(r.n, "type")+" "+r.child.Tag)
	r.c.refuse(r.n, 501, "feature-not-implemented")
}

// aboutGroup answers a query about one group. Members may query it, and admins
// change it.
func (r *groupRequest) aboutGroup(g *group) {
	if g == nil {
		r.c.refuse(r.n, 404, "item-not-found")
		return
	}
	by := r.c.device.phone
	m := g.member(by)
	change := str(r.n, "type") == "set"
	switch {
	case m == nil:
		r.c.refuse(r.n, 403, "forbidden")
	case change && !m.admin && (g.flags["locked"] || isAdmins(r.child.Tag)):
		r.c.refuse(r.n, 403, "forbidden")
	case change:
		r.change(g)
	case r.child.Tag == "query":
		r.c.result(r.n, g.node())
	case r.child.Tag == "invite" && m.admin:
		r.c.result(r.n, node{Tag: "invite", Attrs: attrs{"code": g.invite}})
	case r.child.Tag == "invite":
		r.c.refuse(r.n, 401, "not-authorized")
	default:
		r.unknown()
	}
}

// isAdmins reports whether only admins may make the change.
func isAdmins(change string) bool {
	switch change {
	case "remove", "promote", "demote", "invite", "announcement", "not_announcement", "locked", "unlocked":
		return true
	}
	return false
}

// change makes a change of a group.
func (r *groupRequest) change(g *group) {
	by := r.c.device.phone
	switch r.child.Tag {
	case "add", "remove", "promote", "demote":
		r.c.result(r.n, r.b.changeMembers(g, by, r.child.Tag, people(r.child)))
	case "subject":
		r.b.rename(g, by, string(body(*r.child)))
		r.c.result(r.n)
	case "description":
		r.b.describe(g, by, string(bytesOf(r.child, "body")))
		r.c.result(r.n)
	case "invite":
		r.c.s.newInvite(g)
		r.b.publish(g, by, g.devices(), node{Tag: "invite", Attrs: attrs{"code": g.invite}})
		r.c.result(r.n, node{Tag: "invite", Attrs: attrs{"code": g.invite}})
	case "announcement", "not_announcement", "locked", "unlocked":
		flag, on := r.child.Tag, true
		if rest, ok := strings.CutPrefix(flag, "not_"); ok {
			flag, on = rest, false
		}
		if flag == "unlocked" {
			flag, on = "locked", false
		}
		g.flags[flag] = on
		r.b.publish(g, by, g.devices(), node{Tag: r.child.Tag, Attrs: attrs{"v_id": r.b.s.id()}})
		r.c.result(r.n)
	case "ephemeral", "not_ephemeral", "membership_approval_mode", "member_add_mode":
		r.b.publish(g, by, g.devices(), *r.child)
		r.c.result(r.n)
	default:
		r.unknown()
	}
}

// create creates a group. Members see each other's LIDs, as in new groups of the
// network.
func (r *groupRequest) create() {
	by := r.c.device.phone
	g := r.c.s.newGroup(by, str(r.child, "subject"), true)
	var came []*Phone
	for _, j := range people(r.child) {
		p := r.c.s.phone(j)
		if g.canAdd(p) == 0 {
			g.members = append(g.members, &member{phone: p})
			came = append(came, p)
		}
	}
	r.c.result(r.n, g.node())
	r.b.welcome(g, by, came, "")
	for _, d := range by.everyDevice() {
		if d != r.c.device {
			r.b.publish(g, by, []*Device{d}, node{Tag: "create", Attrs: attrs{"type": "new", "key": r.b.s.id()}, Content: []node{g.node()}})
		}
	}
}

// joined lists the groups of the account.
func (r *groupRequest) joined() []node {
	var list []node
	for _, g := range r.c.s.groups {
		if g.member(r.c.device.phone) != nil {
			list = append(list, g.node())
		}
	}
	return list
}

// leave removes the account from groups.
func (r *groupRequest) leave() {
	var left []node
	for _, one := range r.child.GetChildren() {
		j := jid(&one, "id")
		if g := r.c.s.groups[j.User]; g != nil {
			r.b.changeMembers(g, r.c.device.phone, "remove", []types.JID{g.form(r.c.device.phone)})
			left = append(left, node{Tag: "group", Attrs: attrs{"id": j}})
		}
	}
	r.c.result(r.n, node{Tag: "leave", Content: left})
}

// useInvite describes the group of an invite link, or joins it.
func (r *groupRequest) useInvite(g *group) {
	switch {
	case g == nil:
		r.c.refuse(r.n, 406, "not-acceptable")
	case str(r.n, "type") == "get":
		r.c.result(r.n, g.node())
	default:
		r.b.join(g, r.c.device.phone)
		r.c.result(r.n, node{Tag: "group", Attrs: attrs{"jid": g.jid}})
	}
}

// people returns the participants that a query names.
func people(n *node) []types.JID {
	var list []types.JID
	for _, one := range n.GetChildrenByTag("participant") {
		list = append(list, jid(&one, "jid").ToNonAD())
	}
	return list
}

// Codes of members for whom a change was refused.
const (
	memberInviteOnly = 403
	memberUnknown    = 404
	memberAlready    = 409
)

// changeMembers adds, removes, promotes or demotes people, and answers with the
// outcome for each. It notifies the members, also those who were removed.
func (b *batch) changeMembers(g *group, by *Phone, what string, asked []types.JID) node {
	answer := node{Tag: what}
	var outcomes, done []node
	var came []*Phone
	reported := g.devices()
	for _, j := range asked {
		p := b.s.phone(j)
		code := 0
		switch what {
		case "add":
			if code = g.canAdd(p); code == 0 {
				g.members = append(g.members, &member{phone: p})
				came = append(came, p)
			}
		default:
			code = g.change(what, p)
		}
		one := node{Tag: "participant", Attrs: attrs{"jid": j}}
		if p != nil {
			one.Attrs = g.person(p)
		}
		if code == 0 {
			done = append(done, one)
		}
		outcomes = append(outcomes, g.refused(one, code))
	}
	answer.Content = outcomes
	if len(done) > 0 {
		b.publish(g, by, reported, node{Tag: what, Attrs: attrs{}, Content: done})
		b.welcome(g, by, came, "")
	}
	return answer
}

func (g *group) canAdd(p *Phone) int {
	switch {
	case p == nil:
		return memberUnknown
	case g.member(p) != nil:
		return memberAlready
	case p.opts.InviteOnly:
		return memberInviteOnly
	}
	return 0
}

func (g *group) change(what string, p *Phone) int {
	m := g.member(p)
	if m == nil {
		return memberUnknown
	}
	switch what {
	case "remove":
		g.members = slices.DeleteFunc(g.members, func(o *member) bool { return o == m })
		clear(g.keyed) // the remaining members use new keys
	case "promote", "demote":
		m.admin = what == "promote"
	}
	return 0
}

// refused adds the reason of a refusal to a person, with an invitation if the
// person has to be invited.
func (g *group) refused(one node, code int) node {
	if code == 0 {
		return one
	}
	one = with(one, "error", code)
	if code == memberInviteOnly {
		one.Content = []node{{Tag: "add_request", Attrs: attrs{"code": g.invite, "expiration": time.Now().Add(72 * time.Hour).Unix()}}}
	}
	return one
}

// join adds a person who was invited.
func (b *batch) join(g *group, p *Phone) {
	if g.member(p) != nil {
		return
	}
	reported := g.devices()
	g.members = append(g.members, &member{phone: p})
	b.publish(g, p, reported, node{Tag: "add", Attrs: attrs{"reason": "invite"}, Content: []node{{Tag: "participant", Attrs: g.person(p)}}})
	b.welcome(g, p, []*Phone{p}, "invite")
}

// rename changes the name of a group.
func (b *batch) rename(g *group, by *Phone, subject string) {
	g.subject = subject
	b.publish(g, by, g.devices(), node{Tag: "subject", Attrs: attrs{"subject": subject, "s_t": time.Now().Unix(), "s_o": g.form(by)}})
}

// describe changes the description of a group.
func (b *batch) describe(g *group, by *Phone, topic string) {
	g.topic, g.topicID = topic, b.s.id()
	change := node{Tag: "description", Attrs: attrs{"id": g.topicID}, Content: []node{{Tag: "body", Content: []byte(topic)}}}
	if topic == "" {
		change.Content = []node{{Tag: "delete"}}
	}
	b.publish(g, by, g.devices(), change)
}
