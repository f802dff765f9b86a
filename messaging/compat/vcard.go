package compat

import (
	"fmt"
	"strings"

	"github.com/trunklinehq/trunkline/provider"
)

// contacts is a message with cards.
func contacts(cards []provider.Card) (kind string, message object) {
	all := make([]object, len(cards))
	for i := range cards {
		all[i] = object{"displayName": cards[i].Name.Formatted, "vcard": vcard(&cards[i])}
	}
	if len(all) == 1 {
		return one("contactMessage", all[0])
	}
	return one("contactsArrayMessage", object{"displayName": counted(len(all)), "contacts": all})
}

// vcards are the cards of a message as texts.
func vcards(cards []provider.Card) []string {
	out := make([]string, len(cards))
	for i := range cards {
		out[i] = vcard(&cards[i])
	}
	return out
}

// vcard is a card as text (RFC 2426): as the network has it, or else with the
// names, the numbers, the addresses of mail and the company.
func vcard(c *provider.Card) string {
	if c.VCard != "" {
		return c.VCard
	}
	lines := []string{"BEGIN:VCARD", "VERSION:3.0"}
	add := func(name string, parts ...string) {
		if strings.Join(parts, "") == "" {
			return
		}
		for i := range parts {
			parts[i] = escaped.Replace(parts[i])
		}
		lines = append(lines, name+":"+strings.Join(parts, ";"))
	}
	add("N", c.Name.Last, c.Name.First, c.Name.Middle, c.Name.Prefix, c.Name.Suffix)
	add("FN", c.Name.Formatted)
	if c.Org != nil {
		add("ORG", c.Org.Company, c.Org.Department)
	}
	for _, p := range c.Phones {
		name := "TEL;type=CELL"
		if isDigits(p.WaID) {
			name += fmt.Sprintf(";waid=%s", p.WaID)
		}
		add(name, p.Phone)
	}
	for _, e := range c.Emails {
		add("EMAIL", e.Email)
	}
	for _, u := range c.URLs {
		add("URL", u.URL)
	}
	return strings.Join(append(lines, "END:VCARD"), "\n")
}

var escaped = strings.NewReplacer(`\`, `\\`, ";", `\;`, ",", `\,`, "\r\n", `\n`, "\n", `\n`)
