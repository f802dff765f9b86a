package webtest

import (
	"strings"

	"go.mau.fi/whatsmeow/types"
)

// groupQuery answers a client's query about groups.
func (c *conn) groupQuery(n, child *node) {
	c.s.deliveries(func(b *batch) {
		if to := jid(n, "to"); to.User != "" {
			c.oneGroup(b, n, child, c.s.groups[to.User])
			return
		}
		switch child.Tag {
		case "create":
			c.createGroup(b, n, child)
		case "participating":
			c.result(n, node{Tag: "groups", Content: c.joinedGroups()})
		case "leave":
			c.leaveGroups(b, n, child)
		case "invite":
			c.useInvite(b, n, c.s.invites[str(child, "code")])
		default:
			c.unknownGroupQuery(n, child)
		}
	})
}

func (c *conn) unknownGroupQuery(n, child *node) {
	c.s.unknown = append(c.s.unknown, "the query of groups "+str(n, "type")+" "+child.Tag)
	c.refuse(n, 501, "feature-not-implemented")
}

// oneGroup answers a query about one group: its members may ask, its admins
// change it.
func (c *conn) oneGroup(b *batch, n, child *node, g *group) {
	if g == nil {
		c.refuse(n, 404, "item-not-found")
		return
	}
	by := c.device.phone
	m := g.member(by)
	change := str(n, "type") == "set"
	switch {
	case m == nil:
		c.refuse(n, 403, "forbidden")
	case change && !m.admin && (g.flags["locked"] || isAdmins(child.Tag)):
		c.refuse(n, 403, "forbidden")
	case change:
		c.changeGroup(b, n, child, g)
	case child.Tag == "query":
		c.result(n, g.node())
	case child.Tag == "invite" && m.admin:
		c.result(n, node{Tag: "invite", Attrs: attrs{"code": g.invite}})
	case child.Tag == "invite":
		c.refuse(n, 401, "not-authorized")
	default:
		c.unknownGroupQuery(n, child)
	}
}

// isAdmins says whether only admins may make the change.
func isAdmins(change string) bool {
	switch change {
	case "remove", "promote", "demote", "invite", "announcement", "not_announcement", "locked", "unlocked":
		return true
	}
	return false
}

func (c *conn) changeGroup(b *batch, n, child *node, g *group) {
	by := c.device.phone
	switch child.Tag {
	case "add", "remove", "promote", "demote":
		c.result(n, b.changeMembers(g, by, child.Tag, people(child)))
	case "subject":
		b.rename(g, by, string(body(*child)))
		c.result(n)
	case "description":
		b.describe(g, by, string(bytesOf(child, "body")))
		c.result(n)
	case "invite":
		c.s.newInvite(g)
		b.publish(g, by, g.devices(), node{Tag: "invite", Attrs: attrs{"code": g.invite}})
		c.result(n, node{Tag: "invite", Attrs: attrs{"code": g.invite}})
	case "announcement", "not_announcement", "locked", "unlocked":
		flag, on := child.Tag, true
		if rest, ok := strings.CutPrefix(flag, "not_"); ok {
			flag, on = rest, false
		}
		if flag == "unlocked" {
			flag, on = "locked", false
		}
		g.flags[flag] = on
		b.publish(g, by, g.devices(), node{Tag: child.Tag, Attrs: attrs{"v_id": b.s.id()}})
		c.result(n)
	case "ephemeral", "not_ephemeral", "membership_approval_mode", "member_add_mode":
		b.publish(g, by, g.devices(), *child)
		c.result(n)
	default:
		c.unknownGroupQuery(n, child)
	}
}

// createGroup makes a group. Members know each other by LID, as the network
// has it in new groups.
func (c *conn) createGroup(b *batch, n, create *node) {
	by := c.device.phone
	g := c.s.newGroup(by, str(create, "subject"), true)
	var came []*Phone
	for _, j := range people(create) {
		p := c.s.phone(j)
		if g.canAdd(p) == 0 {
			g.members = append(g.members, &member{phone: p})
			came = append(came, p)
		}
	}
	c.result(n, g.node())
	b.welcome(g, by, came, "")
	for _, d := range by.everyDevice() {
		if d != c.device {
			b.publish(g, by, []*Device{d}, node{Tag: "create", Attrs: attrs{"type": "new", "key": b.s.id()}, Content: []node{g.node()}})
		}
	}
}

func (c *conn) joinedGroups() []node {
	var list []node
	for _, g := range c.s.groups {
		if g.member(c.device.phone) != nil {
			list = append(list, g.node())
		}
	}
	return list
}

func (c *conn) leaveGroups(b *batch, n, leave *node) {
	var left []node
	for _, one := range leave.GetChildren() {
		j := jid(&one, "id")
		if g := c.s.groups[j.User]; g != nil {
			b.changeMembers(g, c.device.phone, "remove", []types.JID{g.form(c.device.phone)})
			left = append(left, node{Tag: "group", Attrs: attrs{"id": j}})
		}
	}
	c.result(n, node{Tag: "leave", Content: left})
}

// useInvite tells about the group that a link leads to, or joins it.
func (c *conn) useInvite(b *batch, n *node, g *group) {
	switch {
	case g == nil:
		c.refuse(n, 406, "not-acceptable")
	case str(n, "type") == "get":
		c.result(n, g.node())
	default:
		b.join(g, c.device.phone)
		c.result(n, node{Tag: "group", Attrs: attrs{"jid": g.jid}})
	}
}

// people are the participants that a query names.
func people(n *node) []types.JID {
	var list []types.JID
	for _, one := range n.GetChildrenByTag("participant") {
		list = append(list, jid(&one, "jid").ToNonAD())
	}
	return list
}
