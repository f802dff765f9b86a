package refusal

import (
	"errors"

	"github.com/trunklinehq/trunkline/messaging/payload"
)

// Renamed is err with the field that it names called otherwise.
func Renamed(err error, field string) error {
	var bad *payload.Invalid
	var refused *payload.Error
	switch {
	case errors.As(err, &bad):
		return &payload.Invalid{Field: field, Message: bad.Message}
	case errors.As(err, &refused) && refused.Field != "":
		out := *refused
		out.Field = field
		return &out
	}
	return err
}
