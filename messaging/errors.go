package messaging

import (
	"errors"
	"time"

	"github.com/trunklinehq/trunkline/messaging/payload"
)

// ErrNotFound reports that the account has no such reference, chat or
// message.
var ErrNotFound = errors.New("messaging: not found")

// Invalid is [payload.Invalid]: a value that breaks a rule.
type Invalid = payload.Invalid

// Missing is an id beside that of what is worked on which leads to nothing of
// the account's, whoever else may have it. It is an [ErrNotFound].
type Missing struct {
	Field   string // path in the request, "message.mediaId"
	Message string
}

func (e *Missing) Error() string { return "messaging: " + e.Field + ": " + e.Message }

// Unwrap returns [ErrNotFound].
func (e *Missing) Unwrap() error { return ErrNotFound }

// Codes of [Error].
const (
	CodeConflict            = "conflict"
	CodeSessionNotConnected = "session_not_connected"
	CodeWindowClosed        = "window_closed"
	CodeUnsupported         = "unsupported"
	CodeRateLimited         = "rate_limited"
	CodeProvider            = "provider_error"

	// CodeAmbiguousChat refuses an id that may name somebody else than meant.
	CodeAmbiguousChat = "chatId.ambiguous"
)

// Error is a refusal with a stable code.
type Error struct {
	Code         string
	Message      string
	Field        string        // path in the request of what it is about, or ""
	ProviderCode string        // the network's own code, or ""
	MessageID    string        // the message that was kept as FAIL, or ""
	After        time.Duration // when to try again; 0: not said
}

func (e *Error) Error() string { return "messaging: " + e.Code + ": " + e.Message }

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
		return Refusal{Code: CodeNotFound, Message: "the request names what is not there", Field: missing.Field, Why: missing.Message}, true
	case errors.As(err, &bad):
		return Refusal{Code: CodeValidation, Message: "the request is not valid", Field: bad.Field, Why: bad.Message}, true
	case errors.As(err, &refused):
		out := Refusal{Code: refused.Code, Message: refused.detail(), Field: refused.Field, After: refused.After}
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
func (e *Error) detail() string {
	detail := e.Message
	if e.ProviderCode != "" && e.ProviderCode != e.Code {
		detail = "code " + e.ProviderCode + ": " + detail
	}
	if e.MessageID != "" {
		detail += " The message was kept as " + e.MessageID + "."
	}
	return detail
}

// renamed is err with the field that it names called otherwise.
func renamed(err error, field string) error {
	var bad *Invalid
	var refused *Error
	switch {
	case errors.As(err, &bad):
		return &Invalid{Field: field, Message: bad.Message}
	case errors.As(err, &refused) && refused.Field != "":
		out := *refused
		out.Field = field
		return &out
	}
	return err
}
