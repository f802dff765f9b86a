package store

import (
	"cmp"
	"slices"
	"strings"

	"github.com/trunklinehq/trunkline/provider"
)

// IDKind says what an id of a person or a group is. Ids of different kinds
// never match, even if their digits are equal.
type IDKind string

// The kinds, as messaging_alias has them.
const (
	IDChat  IDKind = "chat" // a whole chat id, as users see it
	IDPhone IDKind = "phone"
	IDUser  IDKind = "user" // business-scoped
	IDPSID  IDKind = "psid"
	IDLID   IDKind = "lid"
)

// TypedID is an id with its kind.
type TypedID struct {
	Kind  IDKind
	Value string
}

// IDs are all ids of an address, its chat id first.
func IDs(a provider.Address) []TypedID {
	out := append(make([]TypedID, 0, 4), TypedID{IDChat, a.ChatID})
	for _, id := range []TypedID{{IDPhone, a.Phone}, {IDUser, a.UserID}, {IDPSID, a.PSID}, {IDLID, a.LID}} {
		if id.Value != "" {
			out = append(out, id)
		}
	}
	return out
}

// OfAnyKind are the ids that a value may be which does not say its kind.
func OfAnyKind(value string) []TypedID {
	return []TypedID{{IDPhone, value}, {IDUser, value}, {IDPSID, value}, {IDLID, value}, {IDChat, value}}
}

// values are ids without their kinds.
func values(ids []TypedID) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = id.Value
	}
	return out
}

// SortedValues are [values] in order, each once.
func SortedValues(ids []TypedID) []string {
	return slices.Compact(slices.Sorted(slices.Values(values(ids))))
}

// ChatName is one of a chat's names on its reference.
type ChatName struct {
	Reference provider.ReferenceID
	TypedID
}

// chatNameTypes are the SQL types of [nameRows].
var chatNameTypes = []string{"BIGINT", "TEXT", "TEXT"}

func nameRows(names []ChatName) [][]any {
	rows := make([][]any, len(names))
	for i, n := range names {
		rows[i] = []any{n.Reference, string(n.Kind), n.Value}
	}
	return rows
}

func compareNames(a, b ChatName) int {
	return cmp.Or(cmp.Compare(a.Reference, b.Reference), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Value, b.Value))
}

func (c *Chat) Address() provider.Address {
	return provider.Address{ChatID: c.ChatID, Group: c.IsGroup, Phone: c.Phone, UserID: c.UserID, PSID: c.PSID, LID: c.LID}
}

// IDs are those by which c is known for sure.
func (c *Chat) IDs() []TypedID { return IDs(c.Address()) }

// learn takes over what an address tells beyond what is known. A phone that
// becomes known gives the chat its id. Another user id than the known one may
// be an old one that comes late: the network says when one changes.
func (c *Chat) learn(a provider.Address) {
	if a.Phone != "" && c.Phone == "" {
		c.Phone = a.Phone
		c.ChatID = a.ChatID
	}
	c.UserID, c.PSID, c.LID = cmp.Or(c.UserID, a.UserID), cmp.Or(c.PSID, a.PSID), cmp.Or(c.LID, a.LID)
}

// BareID is a chat id without what is behind the @.
func BareID(id string) string {
	before, _, _ := strings.Cut(id, "@")
	return before
}

// The ends of chat ids of WhatsApp Web.
const (
	PhoneSuffix  = "@s.whatsapp.net"
	HiddenSuffix = "@lid"
)
