package messaging

import (
	"github.com/trunklinehq/trunkline/messaging/internal/store"
)

// setTitle gives a group its subject, or a contact the name that it has in the
// account's phone book, and reports whether that is news.
func setTitle(c *store.Chat, title string, atUS int64) bool {
	if atUS < c.TitleUS {
		return false
	}
	news := title != c.Title
	c.Title, c.TitleUS = title, atUS
	return news
}

// setOptOut notes whether the contact wants to be written to, and reports whether
// that is news.
func setOptOut(c *store.Chat, out bool, atUS int64) bool {
	if atUS < c.OptedUS {
		return false
	}
	news := out != c.OptedOut
	c.OptedOut, c.OptedUS = out, atUS
	return news
}
