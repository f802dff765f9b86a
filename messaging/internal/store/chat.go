package store

import (
	"cmp"

	"github.com/trunklinehq/trunkline/provider"
)

// SetName takes over what a contact called itself at a time: of two names the
// newer one, and an older one where there is none.
func (c *Chat) SetName(who provider.Contact, atUS int64) {
	if who.Name == "" && who.VerifiedBizName == "" && who.Username == "" {
		return
	}
	first := func(said, known string) string { return cmp.Or(said, known) }
	if atUS < c.NameUS {
		first = func(said, known string) string { return cmp.Or(known, said) }
	}
	c.Name, c.BizName = first(who.Name, c.Name), first(who.VerifiedBizName, c.BizName)
	c.Username = first(who.Username, c.Username)
	c.NameUS = max(c.NameUS, atUS)
}

// Rename lets the chat go on under the contact's new address, unless it has a
// newer one. The old ones still lead to it.
func (c *Chat) Rename(to provider.Address, atUS int64) {
	if atUS < c.MovedUS {
		return
	}
	c.MovedUS = atUS
	c.UserID, c.PSID, c.LID = cmp.Or(to.UserID, c.UserID), cmp.Or(to.PSID, c.PSID), cmp.Or(to.LID, c.LID)
	if to.Phone != "" || c.Phone == "" { // a user id names no chat whose phone is known
		c.ChatID, c.Phone = to.ChatID, to.Phone
	}
}

// mergeHandoff takes over who has the other of two chats that have become one.
func (c *Chat) mergeHandoff(o *Chat) {
	c.HandoffUS, c.Taken = max(c.HandoffUS, o.HandoffUS), c.Taken || o.Taken
	if o.AskedUS > c.AskedUS {
		c.AskedUS, c.Asked = o.AskedUS, o.Asked
	}
	if c.ActiveBot == "" {
		c.ActiveBot = o.ActiveBot
	}
}
