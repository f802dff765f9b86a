package store

import (
	"strings"

	"github.com/trunklinehq/trunkline/internal/apierr"
)

var (
	// ErrNotFound reports an extractor that does not exist, or belongs to
	// another account.
	ErrNotFound = apierr.New("extractor", apierr.NotFound, "there is no such extractor")
	// ErrUntrained reports intents that have not been learned yet.
	ErrUntrained = apierr.New("extractor", apierr.Conflict, "the intents have not been learned yet: wait until training is ready")
)

// Invalid reports a value that breaks a rule. It has the Field, a path in the
// request, and the Message, to be read after the field; never the value, which
// may be a secret.
//
// Fields are name, kind, scope, config.pattern, config.intents[3].examples, limit and cursor.
type Invalid = apierr.Invalid

// inConfig turns an error that begins with the name of a field into an [Invalid].
func inConfig(err error) error {
	field, message, _ := strings.Cut(err.Error(), " ")
	return &Invalid{Field: "config." + strings.TrimSuffix(field, ":"), Message: message}
}
