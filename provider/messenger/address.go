package messenger

import (
	"strings"

	"github.com/trunklinehq/trunkline/provider"
)

// suffix is the end of the chat ids of this kind of reference.
const suffix = "@messenger"

// maxIDLength limits the digits of a page-scoped id.
const maxIDLength = 32

// Address parses the id of a person for the page, with or without @messenger.
func (*Provider) Address(chatID string) (provider.Address, error) {
	id := strings.TrimSuffix(strings.TrimSpace(chatID), suffix)
	if a := person(id); a.ChatID != "" {
		return a, nil
	}
	return provider.Address{}, &provider.BadRecipient{
		Message: "a chat id is the page-scoped id of a person, digits only, with " + suffix,
	}
}

// person returns the address of a page-scoped id, and the zero Address for any
// other text.
func person(id string) provider.Address {
	if id == "" || len(id) > maxIDLength || strings.Trim(id, "0123456789") != "" {
		return provider.Address{}
	}
	return provider.Address{ChatID: id + suffix, PSID: id}
}
