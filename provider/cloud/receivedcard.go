package cloud

import (
	"github.com/trunklinehq/trunkline/internal/jsonscan"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph"
)

// readCards reads shared contacts; nil when there are none. The origin of a
// card that answers a request was seen beside the cards and inside.
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
