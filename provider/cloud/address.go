package cloud

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/trunklinehq/trunkline/provider"
)

const groupSuffix = "@g.us"

// The lengths are checked separately: a pattern with a repetition of 256 takes
// much memory.
var (
	scopedID = regexp.MustCompile(`^[A-Z]{2}(\.ENT)?\.[A-Za-z0-9]+$`)
	groupID  = regexp.MustCompile(`^[A-Za-z0-9_=+/.-]+$`)
)

const (
	maxScopedIDLength = 128 // after the last dot
	maxGroupIDLength  = 256
)

// isScopedID reports whether an id is a business-scoped user id, also of a
// parent portfolio: US.40070010020030040055, US.ENT.40070010020030040066.
func isScopedID(s string) bool {
	return len(s)-strings.LastIndexByte(s, '.')-1 <= maxScopedIDLength && scopedID.MatchString(s)
}

func isGroupID(s string) bool { return len(s) <= maxGroupIDLength && groupID.MatchString(s) }

// Address parses a phone number with or without +, spaces, dashes, brackets and
// dots, a business-scoped user id, or a group's id with @g.us.
func (*Provider) Address(chatID string) (provider.Address, error) {
	chatID = strings.TrimSpace(chatID)
	if isScopedID(chatID) {
		return provider.Address{ChatID: chatID, UserID: chatID}, nil
	}
	if id, ok := strings.CutSuffix(chatID, groupSuffix); ok && isGroupID(id) {
		return provider.Address{ChatID: chatID, Group: true}, nil
	}
	if number := strings.Map(dialled, strings.TrimPrefix(chatID, "+")); phone(number) {
		return provider.Address{ChatID: number, Phone: number}, nil
	}
	return provider.Address{}, &provider.BadRecipient{
		Message: "a chat id is a phone number with its country code, a business-scoped user id (US.123), or a group's id with " + groupSuffix,
	}
}

// dialled removes the characters that people write between the digits of a
// number.
func dialled(r rune) rune {
	if unicode.IsSpace(r) || unicode.Is(unicode.Dash, r) || strings.ContainsRune("().", r) {
		return -1
	}
	return r
}

// phone reports whether s is a number in international form, digits only. The
// shortest are test numbers, the longest those of E.164.
func phone(s string) bool { return len(s) >= 4 && len(s) <= 15 && digits(s) }

func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// person returns the address for what the network sent. ids are the values of
// fields for a phone number or WhatsApp id, some of which have contained
// business-scoped ids; user is the business-scoped id or "".
func person(user string, ids ...string) provider.Address {
	a := provider.Address{UserID: user}
	for _, id := range ids {
		id = strings.TrimPrefix(id, "+")
		switch {
		case id == "":
		case isScopedID(id):
			a.UserID = first(a.UserID, id)
		case phone(id):
			a.Phone = first(a.Phone, id)
		default:
			a.ChatID = first(a.ChatID, id) // an id of an unknown form
		}
	}
	a.ChatID = first(a.Phone, a.UserID, a.ChatID)
	return a
}

// group returns the address of a group by the network's id.
func group(id string) provider.Address {
	return provider.Address{ChatID: strings.TrimSuffix(id, groupSuffix) + groupSuffix, Group: true}
}

// first returns the first string that is not empty.
func first(of ...string) string {
	for _, s := range of {
		if s != "" {
			return s
		}
	}
	return ""
}
