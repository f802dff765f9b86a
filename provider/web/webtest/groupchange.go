package webtest

import (
	"slices"
	"time"

	"go.mau.fi/whatsmeow/types"
)

// Codes of a member that a change of a group was refused for.
const (
	memberInviteOnly = 403
	memberUnknown    = 404
	memberAlready    = 409
)

// changeMembers adds, removes, promotes or demotes, and answers for each person
// what became of it. Those who are told are the members, and who left.
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
		clear(g.keyed) // who stays writes under new keys
	case "promote", "demote":
		m.admin = what == "promote"
	}
	return 0
}

// refused adds to a person why the change was refused, with an invitation
// where that is what helps.
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

// rename changes a group's name.
func (b *batch) rename(g *group, by *Phone, subject string) {
	g.subject = subject
	b.publish(g, by, g.devices(), node{Tag: "subject", Attrs: attrs{"subject": subject, "s_t": time.Now().Unix(), "s_o": g.form(by)}})
}

// describe changes a group's description.
func (b *batch) describe(g *group, by *Phone, topic string) {
	g.topic, g.topicID = topic, b.s.id()
	change := node{Tag: "description", Attrs: attrs{"id": g.topicID}, Content: []node{{Tag: "body", Content: []byte(topic)}}}
	if topic == "" {
		change.Content = []node{{Tag: "delete"}}
	}
	b.publish(g, by, g.devices(), change)
}
