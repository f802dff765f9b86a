package cloud

import (
	"strings"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph"
)

// system reads a message that the network wrote about a contact.
func (r *reader) system(in *incoming) {
	v := in.item.Get("system")
	user, number := v.Get("user_id").ID(), first(v.Get("wa_id").ID(), v.Get("new_wa_id").ID())
	c := &provider.ContactChange{
		Raw:  r.Itself("system", in.item),
		Chat: r.people.sender(in.fromUser, in.from).Address,
		At:   in.at,
		Text: v.Get("body").Text(),
	}
	c.ID = in.id
	switch v.Get("type").Text() {
	case "user_changed_number", "customer_changed_number":
		c.What, c.To = provider.ContactMoved, person(user, number)
	case "user_changed_user_id":
		c.What, c.To = provider.ContactMoved, person(user, first(number, in.from))
	case "customer_identity_changed":
		c.What = provider.ContactIdentity
	}
	r.reportContact(c)
}

// userIDs reads changes of business-scoped user ids.
func (r *reader) userIDs(kind string) {
	r.each("user_id_update", func(item graph.Value) {
		id, number := item.Get("user_id"), item.Get("wa_id").ID()
		c := &provider.ContactChange{
			Raw:  r.Itself(kind, item),
			What: provider.ContactMoved,
			Chat: person(id.Get("previous").ID(), number),
			At:   item.Get("timestamp").Time(),
			Text: item.Get("detail").Text(),
		}
		if current := id.Get("current").ID(); current != "" {
			c.To = person(current, number)
		}
		r.reportContact(c)
	})
}

// preferences reads which messages contacts opt out of or into.
func (r *reader) preferences(kind string) {
	r.each("user_preferences", func(item graph.Value) {
		c := &provider.ContactChange{
			Raw:      r.Itself(kind, item),
			Chat:     person(item.Get("user_id").ID(), item.Get("wa_id").ID()),
			At:       item.Get("timestamp").Time(),
			Category: item.Get("category").Text(),
			Text:     item.Get("detail").Text(),
		}
		switch item.Get("value").Text() {
		case "stop":
			c.What = provider.ContactOptedOut
		case "resume", "signup":
			c.What = provider.ContactOptedIn
		}
		r.reportContact(c)
	})
}

// contactSync reads changes of the contacts on the account's phone.
func (r *reader) contactSync(kind string) {
	r.each("state_sync", func(item graph.Value) {
		v := item.Get("contact")
		c := &provider.ContactChange{
			Raw:  r.Itself(kind, item),
			Chat: person("", v.Get("phone_number").ID()),
			At:   item.Get("metadata").Get("timestamp").Time(),
		}
		switch item.Get("action").Text() {
		case "add":
			c.What, c.Name = provider.ContactSaved, first(v.Get("full_name").Text(), v.Get("first_name").Text())
		case "remove":
			c.What, c.Name = provider.ContactForgotten, v.Get("full_name").Text()
		}
		r.reportContact(c)
	})
}

// reportContact reports a change if its contact and kind are known.
func (r *reader) reportContact(c *provider.ContactChange) {
	if c.What == "" || !reachable(c.Chat) || c.What == provider.ContactMoved && !reachable(c.To) {
		r.Report(&c.Raw)
		return
	}
	r.Report(c)
}

// people are the contacts of a change, by each of their ids.
type people struct {
	byName map[string]graph.Value
	only   graph.Value // if there is only one
}

func readPeople(array graph.Value) people {
	var p people
	n := 0
	for c := range array.Items() {
		if n++; n == 1 {
			p.only = c
			continue
		}
		if n == 2 {
			p.byName = map[string]graph.Value{}
			p.name(p.only)
			p.only = nil
		}
		p.name(c)
	}
	return p
}

func (p *people) name(c graph.Value) {
	for _, member := range []string{"wa_id", "user_id"} {
		id := c.Get(member).ID()
		if _, taken := p.byName[id]; id != "" && !taken {
			p.byName[id] = c
		}
	}
}

// find returns the contact with one of the ids, or nil. If there is only one
// contact, it is returned also for another number: the network writes some
// numbers in two ways.
func (p *people) find(user, id string) graph.Value {
	if p.only == nil {
		if c, ok := p.byName[id]; ok {
			return c
		}
		return p.byName[user]
	}
	if own := p.only.Get("user_id").ID(); user != "" && own != "" && own != user {
		if wa := p.only.Get("wa_id").ID(); id == "" || wa != id && own != id {
			return nil
		}
	}
	return p.only
}

// sender returns the sender of a message, with the name and user name of the
// contact.
func (p *people) sender(user, id string) provider.Contact {
	c := p.find(user, id)
	if c == nil {
		return provider.Contact{Address: person(user, id)}
	}
	profile := c.Get("profile")
	return provider.Contact{
		Address:  person(first(user, c.Get("user_id").ID()), id, c.Get("wa_id").ID()),
		Name:     profile.Get("name").Text(),
		Username: strings.TrimPrefix(profile.Get("username").Text(), "@"),
	}
}
