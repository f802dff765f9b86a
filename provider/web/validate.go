package web

import (
	"unicode/utf8"

	"github.com/trunklinehq/trunkline/provider"
)

// WhatsApp's limits.
const (
	maxText    = 65536 // characters
	maxCaption = 1024
	maxCards   = 257
)

// Validate finds what WhatsApp would not take.
func (*Provider) Validate(c provider.Content) error {
	switch x := c.(type) {
	case provider.Text:
		return within("text", x.Text, maxText)
	case provider.Edit:
		return within("text", x.Text, maxText)
	case provider.Media:
		return within("caption", x.Caption, maxCaption)
	case provider.Contacts:
		if len(x.Contacts) == 0 || len(x.Contacts) > maxCards {
			return &provider.Invalid{Field: "contacts", Message: "must have 1 to 257 cards"}
		}
	}
	return nil
}

func within(field, s string, limit int) error {
	if utf8.RuneCountInString(s) > limit {
		return &provider.Invalid{Field: field, Message: "is too long for WhatsApp"}
	}
	return nil
}
