package messaging

import (
	"errors"
	"time"

	"github.com/trunklinehq/trunkline/messaging/internal/attachment"
	"github.com/trunklinehq/trunkline/messaging/payload"
)

// ErrNotFound reports that the account has no such reference, chat or
// message.
var ErrNotFound = payload.ErrNotFound

// ErrOtherMedia reports a library that is not the one that the other processes
// on the database use: they would not find each other's files.
var ErrOtherMedia = attachment.ErrOtherMedia

// What the methods of [Account] refuse is in package payload.
type (
	// Invalid is [payload.Invalid]: a value that breaks a rule.
	Invalid = payload.Invalid
	// Missing is [payload.Missing]: an id that leads to nothing of the account.
	Missing = payload.Missing
	// Error is [payload.Error]: a refusal with a stable code.
	Error = payload.Error
)

// Codes of [Error].
const (
	CodeConflict            = payload.CodeConflict
	CodeSessionNotConnected = payload.CodeSessionNotConnected
	CodeWindowClosed        = payload.CodeWindowClosed
	CodeUnsupported         = payload.CodeUnsupported
	CodeRateLimited         = payload.CodeRateLimited
	CodeProvider            = payload.CodeProvider
	CodeAmbiguousChat       = payload.CodeAmbiguousChat
)

// Codes of [Refusal] beside those of [Error].
const (
	CodeValidation = "validation"
	CodeNotFound   = "not_found"
)

// Refusal is what a client is told of an error, by whichever door it came.
type Refusal struct {
	Code    string        // one of the Code constants
	Message string        // for people
	Field   string        // what of the request it is about, as in [Invalid]; "": nothing in particular
	Why     string        // which rule Field breaks
	After   time.Duration // when to try again; 0: not said
}

// Refused says what a client is told of an error of the methods of [Account],
// and false of one that is not its business.
func Refused(err error) (Refusal, bool) {
	var bad *Invalid
	var missing *Missing
	var refused *Error
	switch {
	case errors.As(err, &missing):
		return Refusal{Code: CodeNotFound, Message: "an object in the request does not exist", Field: missing.Field, Why: missing.Message}, true
	case errors.As(err, &bad):
		return Refusal{Code: CodeValidation, Message: "the request is not valid", Field: bad.Field, Why: bad.Message}, true
	case errors.As(err, &refused):
		out := Refusal{Code: refused.Code, Message: detail(refused), Field: refused.Field, After: refused.After}
		if out.Field != "" {
			out.Why = refused.Message
		}
		return out, true
	case errors.Is(err, ErrNotFound):
		return Refusal{Code: CodeNotFound, Message: "there is no such reference, chat or message"}, true
	}
	return Refusal{}, false
}

// detail is the message with what helps to find the cause.
func detail(e *Error) string {
	text := e.Message
	if e.ProviderCode != "" && e.ProviderCode != e.Code {
		text = "code " + e.ProviderCode + ": " + text
	}
	if e.MessageID != "" {
		text += " The message was kept as " + e.MessageID + "."
	}
	return text
}
