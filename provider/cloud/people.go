package cloud

import (
	"strings"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph"
)

// people are the contacts that a change speaks of, by each of their names.
type people struct {
	byName map[string]graph.Value
	only   graph.Value // when there is but one
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

// find returns the contact of those ids, or nil. The only one is meant even
// under another number: the network writes some numbers in two ways.
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

// sender names who wrote, with what the contacts add.
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
