package provider

// Address identifies a chat in a network. Several fields may identify the same
// person; at least ChatID is set. Ids in different fields are different, even
// if their digits are equal.
type Address struct {
	ChatID string // the id that users see, such as "16505551234" or "ana@sandbox"
	Group  bool
	Phone  string // digits only, or ""
	UserID string // business-scoped user id, or ""
	PSID   string // page-scoped id of Messenger, or ""
	LID    string // WhatsApp's id that hides the phone number, or ""
}

// RemoteJID returns the name of the chat in webhook payloads:
// "16505551234::single", "120363::group".
func (a Address) RemoteJID() string {
	id, _, _ := cutLast(a.ChatID, '@')
	if a.Group {
		return id + "::group"
	}
	for _, name := range []string{a.Phone, a.UserID, a.LID, a.PSID} {
		if name != "" {
			return name + "::single"
		}
	}
	return id + "::single"
}

func cutLast(s string, sep byte) (before, after string, found bool) {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == sep {
			return s[:i], s[i+1:], true
		}
	}
	return s, "", false
}

// Contact is a person as a message describes them.
type Contact struct {
	Address
	Name            string // the name the person chose
	VerifiedBizName string
	Username        string
}
