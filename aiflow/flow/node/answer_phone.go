package node

import (
	"strings"

	"github.com/nyaruka/phonenumbers"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// phone reads a phone number, also from a contact card, and returns E.164.
func (r reader) phone(said string) (any, bool) {
	if said == "" {
		said = cardPhone(r.message)
	}
	if said == "" || len(said) > 250 {
		return nil, false
	}
	return r.either("phone", said, r.ownPhone)
}

// ownPhone reads a phone number.
func (r reader) ownPhone(said string) (any, bool) {
	said = asciiDigits(said)
	if !strings.HasPrefix(said, "+") && strings.HasPrefix(said, "00") {
		said = "+" + said[2:]
	}
	region := ""
	if !strings.HasPrefix(said, "+") {
		region = r.region()
	}
	n, err := phonenumbers.Parse(said, region)
	if err != nil || !phonenumbers.IsValidNumber(n) {
		return nil, false
	}
	return phonenumbers.Format(n, phonenumbers.E164), true
}

// cardPhone returns the first number of the first card of a message.
func cardPhone(message map[string]any) string {
	cards, _ := message["contacts"].([]any)
	for _, card := range cards {
		phones, _ := values.ObjectOf(card)["phones"].([]any)
		for _, phone := range phones {
			if s := values.TextOf(values.ObjectOf(phone)["phone"]); s != "" {
				return s
			}
		}
	}
	return ""
}

// region returns the region of the contact's own phone number, which is assumed for
// numbers without a country.
func region(t *flow.Turn) string {
	contact := values.ObjectOf(t.Env["contact"])
	own := values.TextOf(contact["phone"])
	if own != "" && !strings.HasPrefix(own, "+") {
		own = "+" + own
	}
	if n, err := phonenumbers.Parse(own, ""); err == nil {
		return phonenumbers.GetRegionCodeForNumber(n)
	}
	_, region, _ := strings.Cut(strings.ReplaceAll(localeOf(t), "_", "-"), "-")
	return strings.ToUpper(region)
}
