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

// Rename lets the chat continue under the contact's new address, unless it has a
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

// TakeOver gives the chat to a person, until it is given back.
func (c *Chat) TakeOver(us int64) { c.HandoffUS, c.Taken = us, true }

// GiveBack ends that a person has the chat, or is asked for.
func (c *Chat) GiveBack() {
	c.HandoffUS, c.Taken, c.AskedUS, c.Asked = 0, false, 0, ""
}

// PublishChat shows a chat, whose last message is loaded, on the stream.
func PublishChat(b *Batch, l ReferenceInfo, c *Chat) {
	b.Publish(l.Account, c.Reference, "chat", b.Store.ChatView(b, c))
}
