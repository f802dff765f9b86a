package web

import (
	"strings"

	"go.mau.fi/whatsmeow/types"

	"github.com/trunklinehq/trunkline/provider"
)

// Lengths of phone numbers, and of other ids.
const (
	minPhoneLength = 7
	maxPhoneLength = 15
	maxIDLength    = 40
)

var badRecipient = &provider.BadRecipient{
	Message: "must be a phone number with its country code, or an id that ends in @s.whatsapp.net, @lid or @g.us",
}

// Address parses a phone number or an id of WhatsApp:
// "16505551234@s.whatsapp.net", "120363040000000000@g.us", "123456@lid".
func (*Provider) Address(chatID string) (provider.Address, error) {
	user, server, full := strings.Cut(strings.TrimSpace(chatID), "@")
	if !full {
		server = types.DefaultUserServer
		user = strings.NewReplacer("+", "", " ", "", "-", "", "(", "", ")", "").Replace(user)
	}
	switch server {
	case types.DefaultUserServer, types.LegacyUserServer:
		if !digits(user) || len(user) < minPhoneLength || len(user) > maxPhoneLength {
			return provider.Address{}, badRecipient
		}
		return person(types.NewJID(user, types.DefaultUserServer), types.EmptyJID), nil
	case types.HiddenUserServer:
		if !digits(user) || len(user) > maxIDLength {
			return provider.Address{}, badRecipient
		}
		return person(types.NewJID(user, types.HiddenUserServer), types.EmptyJID), nil
	case types.GroupServer:
		if !digits(strings.Replace(user, "-", "", 1)) || len(user) > maxIDLength { // old groups: creator-time
			return provider.Address{}, badRecipient
		}
		return group(types.NewJID(user, types.GroupServer)), nil
	}
	return provider.Address{}, badRecipient
}

func digits(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r < '0' || r > '9' })
}

func group(j types.JID) provider.Address {
	return provider.Address{ChatID: j.String(), Group: true}
}

// person returns the address of the person with the ids a and b. The chat's id is
// the phone number if it is known, else the LID.
func person(a, b types.JID) provider.Address {
	var out provider.Address
	for _, j := range []types.JID{a, b} {
		switch j.Server {
		case types.DefaultUserServer, types.HostedServer:
			out.Phone = j.User
		case types.HiddenUserServer, types.HostedLIDServer:
			out.LID = j.User
		}
	}
	switch {
	case out.Phone != "":
		out.ChatID = out.Phone + "@" + types.DefaultUserServer
	case out.LID != "":
		out.ChatID = out.LID + "@" + types.HiddenUserServer
	}
	return out
}

// jid returns the id to which a message to an address is sent.
func jid(a provider.Address) types.JID {
	switch {
	case a.Group:
		user, _, _ := strings.Cut(a.ChatID, "@")
		return types.NewJID(user, types.GroupServer)
	case a.Phone != "":
		return types.NewJID(a.Phone, types.DefaultUserServer)
	case a.LID != "":
		return types.NewJID(a.LID, types.HiddenUserServer)
	}
	j, err := types.ParseJID(a.ChatID)
	if err != nil {
		return types.EmptyJID
	}
	return j
}
