package messaging

import (
	"cmp"

	"github.com/trunklinehq/trunkline/provider"
)

// setName takes over what a contact called itself at a time: of two names the
// newer one, and an older one where there is none.
func (c *chatRow) setName(who provider.Contact, atUS int64) {
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

// setTitle gives a group its subject, or a contact the name that it has in the
// account's phone book, and reports whether that is news.
func (c *chatRow) setTitle(title string, atUS int64) bool {
	if atUS < c.TitleUS {
		return false
	}
	news := title != c.Title
	c.Title, c.TitleUS = title, atUS
	return news
}

// setOptOut notes whether the contact wants to be written to, and reports whether
// that is news.
func (c *chatRow) setOptOut(out bool, atUS int64) bool {
	if atUS < c.OptedUS {
		return false
	}
	news := out != c.OptedOut
	c.OptedOut, c.OptedUS = out, atUS
	return news
}

// rename lets the chat go on under the contact's new address, unless it has a
// newer one. The old ones still lead to it.
func (c *chatRow) rename(to provider.Address, atUS int64) {
	if atUS < c.MovedUS {
		return
	}
	c.MovedUS = atUS
	c.UserID, c.PSID, c.LID = cmp.Or(to.UserID, c.UserID), cmp.Or(to.PSID, c.PSID), cmp.Or(to.LID, c.LID)
	if to.Phone != "" || c.Phone == "" { // a user id names no chat whose phone is known
		c.ChatID, c.Phone = to.ChatID, to.Phone
	}
}
