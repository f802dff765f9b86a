package sanitize

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/trunklinehq/trunkline/internal/text"
	"github.com/trunklinehq/trunkline/messaging/internal/render"
	"github.com/trunklinehq/trunkline/provider"
)

const (
	// MaxNameLength is the most bytes of a name that is kept.
	MaxNameLength = 512
	// MaxKindLength is the most bytes of the kind of a raw event that is kept.
	MaxKindLength = 100
)

// IsName says whether an id is there and fits into an index.
func IsName(id string) bool { return id != "" && len(id) <= render.MaxTextLength }

// JSON drops from a document what no database stores.
func JSON(b json.RawMessage) json.RawMessage {
	if len(b) == 0 {
		return nil
	}
	return json.RawMessage(text.Sanitize(string(b)))
}

// Address also forgets names that no index could hold; only the chat id
// is indispensable.
func Address(a provider.Address) provider.Address {
	name := func(s string) string {
		if s = text.Sanitize(s); len(s) > render.MaxTextLength {
			return ""
		}
		return s
	}
	return provider.Address{ChatID: text.Sanitize(a.ChatID), Group: a.Group, Phone: name(a.Phone), UserID: name(a.UserID), PSID: name(a.PSID), LID: name(a.LID)}
}

// Contact is [Address] with names of a length that is kept.
func Contact(c provider.Contact) provider.Contact {
	return provider.Contact{
		Address: Address(c.Address), Name: text.Truncate(text.Sanitize(c.Name), MaxNameLength),
		VerifiedBizName: text.Truncate(text.Sanitize(c.VerifiedBizName), MaxNameLength), Username: text.Truncate(text.Sanitize(c.Username), MaxNameLength),
	}
}

// Content cleans what is used of a content beyond the body that it makes,
// which is clean itself, and text, which is nearly all.
func Content(c provider.Content) provider.Content {
	switch v := c.(type) {
	case nil:
		return provider.Unknown{}
	case provider.Text:
		v.Text = text.Sanitize(v.Text)
		return v
	case provider.Vote:
		v.MessageID = text.Sanitize(v.MessageID)
		return v
	case provider.Unknown:
		v.Kind, v.Body = text.Sanitize(v.Kind), JSON(v.Body)
		return v
	case provider.Media:
		v.ID, v.URL, v.MIME, v.FileName = text.Sanitize(v.ID), text.Sanitize(v.URL), text.Sanitize(v.MIME), text.Sanitize(v.FileName)
		return v
	}
	return c
}

// Time forgets a time that no column could hold.
func Time(at time.Time) time.Time {
	if y := at.Year(); y < 1970 || y > 9999 {
		return time.Time{}
	}
	return at
}

// Digest names bytes by their SHA-256, in hex.
func Digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
