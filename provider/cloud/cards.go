package cloud

import (
	"fmt"

	"github.com/trunklinehq/trunkline/internal/jsonscan"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph"
)

// Contacts are 1 to 257 contact cards. A card needs its name's Formatted and at
// least one part of the name. Its VCard is not sent.
type Contacts []provider.Card

func (c Contacts) check(r *graph.Rules) {
	r.Count("message.contacts", len(c), maxCards)
	for i, one := range c {
		at := fmt.Sprintf("message.contacts[%d].name", i)
		n := one.Name
		r.Needs(at+".formatted_name", n.Formatted)
		r.Must(first(n.First, n.Middle, n.Last, n.Prefix, n.Suffix) != "", at, "must have a part beside the whole: a first or last name")
	}
}

func (c Contacts) into(e *envelope) {
	e.Type = "contacts"
	e.Contacts = make([]card, len(c))
	for i, one := range c {
		e.Contacts[i] = wireCard(one)
	}
}

// card is a [provider.Card] in the network's format. Its parts have the same
// fields in the same order, so that they can be converted.
type card struct {
	Name      cardName      `json:"name"`
	Phones    []cardPhone   `json:"phones,omitempty"`
	Emails    []cardEmail   `json:"emails,omitempty"`
	Addresses []cardAddress `json:"addresses,omitempty"`
	URLs      []cardURL     `json:"urls,omitempty"`
	Org       *cardOrg      `json:"org,omitempty"`
	Birthday  string        `json:"birthday,omitempty"`
}

type cardName struct {
	Formatted string `json:"formatted_name"`
	First     string `json:"first_name,omitempty"`
	Middle    string `json:"middle_name,omitempty"`
	Last      string `json:"last_name,omitempty"`
	Prefix    string `json:"prefix,omitempty"`
	Suffix    string `json:"suffix,omitempty"`
}

type cardPhone struct {
	Phone string `json:"phone"`
	WaID  string `json:"wa_id,omitempty"`
	Type  string `json:"type,omitempty"`
}

type cardEmail struct {
	Email string `json:"email"`
	Type  string `json:"type,omitempty"`
}

type cardURL struct {
	URL  string `json:"url"`
	Type string `json:"type,omitempty"`
}

type cardAddress struct {
	Street      string `json:"street,omitempty"`
	City        string `json:"city,omitempty"`
	State       string `json:"state,omitempty"`
	Zip         string `json:"zip,omitempty"`
	Country     string `json:"country,omitempty"`
	CountryCode string `json:"country_code,omitempty"`
	Type        string `json:"type,omitempty"`
}

type cardOrg struct {
	Company    string `json:"company,omitempty"`
	Department string `json:"department,omitempty"`
	Title      string `json:"title,omitempty"`
}

func wireCard(c provider.Card) card {
	out := card{Name: cardName(c.Name), Birthday: c.Birthday}
	for _, p := range c.Phones {
		out.Phones = append(out.Phones, cardPhone(p))
	}
	for _, m := range c.Emails {
		out.Emails = append(out.Emails, cardEmail(m))
	}
	for _, a := range c.Addresses {
		out.Addresses = append(out.Addresses, cardAddress(a))
	}
	for _, u := range c.URLs {
		out.URLs = append(out.URLs, cardURL(u))
	}
	if c.Org != nil {
		org := cardOrg(*c.Org)
		out.Org = &org
	}
	return out
}

// readCards reads shared contacts; nil if there are none. The origin of a card
// that answers a request may be next to the cards or inside of one.
func readCards(array graph.Value, origin string) provider.Content {
	if jsonscan.Kind(array) != '[' {
		return nil
	}
	c := provider.Contacts{Origin: origin}
	for card := range array.Items() {
		if card.Object() {
			c.Contacts = append(c.Contacts, readCard(card))
			c.Origin = first(c.Origin, card.Get("origin").Text())
		}
	}
	return c
}

func readCard(v graph.Value) provider.Card {
	name := v.Get("name")
	c := provider.Card{
		Name: provider.CardName{
			Formatted: name.Get("formatted_name").Text(), First: name.Get("first_name").Text(),
			Middle: name.Get("middle_name").Text(), Last: name.Get("last_name").Text(),
			Prefix: name.Get("prefix").Text(), Suffix: name.Get("suffix").Text(),
		},
		Birthday: v.Get("birthday").Text(),
		VCard:    v.Get("vcard").Text(),
	}
	for p := range v.Get("phones").Items() {
		c.Phones = append(c.Phones, provider.CardPhone{Phone: p.Get("phone").ID(), WaID: p.Get("wa_id").ID(), Type: p.Get("type").Text()})
	}
	for e := range v.Get("emails").Items() {
		c.Emails = append(c.Emails, provider.CardEmail{Email: e.Get("email").Text(), Type: e.Get("type").Text()})
	}
	for u := range v.Get("urls").Items() {
		c.URLs = append(c.URLs, provider.CardURL{URL: u.Get("url").Text(), Type: u.Get("type").Text()})
	}
	for a := range v.Get("addresses").Items() {
		c.Addresses = append(c.Addresses, readCardAddress(a))
	}
	if org := v.Get("org"); org.Object() {
		c.Org = &provider.CardOrg{Company: org.Get("company").Text(), Department: org.Get("department").Text(), Title: org.Get("title").Text()}
	}
	return c
}

func readCardAddress(v graph.Value) provider.CardAddress {
	return provider.CardAddress{
		Street: v.Get("street").Text(), City: v.Get("city").Text(), State: v.Get("state").Text(), Zip: v.Get("zip").ID(),
		Country: v.Get("country").Text(), CountryCode: v.Get("country_code").Text(), Type: v.Get("type").Text(),
	}
}
