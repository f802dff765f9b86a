package outbox

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/trunklinehq/trunkline/messaging/payload"
)

// maxClientID is how many characters a client id may have.
const maxClientID = 128

// CheckClientID refuses what cannot be a client id. "" is none, and passes.
func CheckClientID(id string) error {
	switch {
	case !utf8.ValidString(id):
		return &payload.Invalid{Field: "clientId", Message: "must be UTF-8"}
	case utf8.RuneCountInString(id) > maxClientID:
		return &payload.Invalid{Field: "clientId", Message: fmt.Sprintf("must have at most %d characters", maxClientID)}
	}
	return CheckPlainText("clientId", id)
}

// CheckPlainText refuses a value with control characters.
func CheckPlainText(field, s string) error {
	if strings.ContainsFunc(s, unicode.IsControl) {
		return &payload.Invalid{Field: field, Message: "must not have control characters"}
	}
	return nil
}
