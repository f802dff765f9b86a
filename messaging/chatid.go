package messaging

import (
	"cmp"
	"slices"

	"github.com/trunklinehq/trunkline/provider"
)

// idKind says what an id of a person or a group is. Ids of different kinds
// never match, even if their digits are equal.
type idKind string

// The kinds, as messaging_alias has them.
const (
	idChat  idKind = "chat" // a whole chat id, as users see it
	idPhone idKind = "phone"
	idUser  idKind = "user" // business-scoped
	idPSID  idKind = "psid"
	idLID   idKind = "lid"
)

// typedID is an id with its kind.
type typedID struct {
	kind  idKind
	value string
}

// ids are all ids of an address, its chat id first.
func ids(a provider.Address) []typedID {
	out := append(make([]typedID, 0, 4), typedID{idChat, a.ChatID})
	for _, id := range []typedID{{idPhone, a.Phone}, {idUser, a.UserID}, {idPSID, a.PSID}, {idLID, a.LID}} {
		if id.value != "" {
			out = append(out, id)
		}
	}
	return out
}

// ofAnyKind are the ids that a value may be which does not say its kind.
func ofAnyKind(value string) []typedID {
	return []typedID{{idPhone, value}, {idUser, value}, {idPSID, value}, {idLID, value}, {idChat, value}}
}

// values are ids without their kinds.
func values(ids []typedID) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = id.value
	}
	return out
}

// sortedValues are [values] in order, each once.
func sortedValues(ids []typedID) []string {
	return slices.Compact(slices.Sorted(slices.Values(values(ids))))
}

// chatName is one of a chat's names on its reference.
type chatName struct {
	reference provider.ReferenceID
	typedID
}

// chatNameTypes are the SQL types of [nameRows].
var chatNameTypes = []string{"BIGINT", "TEXT", "TEXT"}

func nameRows(names []chatName) [][]any {
	rows := make([][]any, len(names))
	for i, n := range names {
		rows[i] = []any{n.reference, string(n.kind), n.value}
	}
	return rows
}

func compareNames(a, b chatName) int {
	return cmp.Or(cmp.Compare(a.reference, b.reference), cmp.Compare(a.kind, b.kind), cmp.Compare(a.value, b.value))
}

func (c *chatRow) address() provider.Address {
	return provider.Address{ChatID: c.ChatID, Group: c.IsGroup, Phone: c.Phone, UserID: c.UserID, PSID: c.PSID, LID: c.LID}
}

// ids are those by which c is known for sure.
func (c *chatRow) ids() []typedID { return ids(c.address()) }

// learn takes over what an address tells beyond what is known. A phone that
// becomes known gives the chat its id. Another user id than the known one may
// be an old one that comes late: the network says when one changes.
func (c *chatRow) learn(a provider.Address) {
	if a.Phone != "" && c.Phone == "" {
		c.Phone = a.Phone
		c.ChatID = a.ChatID
	}
	c.UserID, c.PSID, c.LID = cmp.Or(c.UserID, a.UserID), cmp.Or(c.PSID, a.PSID), cmp.Or(c.LID, a.LID)
}
