package payload

import (
	"time"

	"github.com/trunklinehq/trunkline/internal/apierr"
)

// ErrNotFound reports that the account has no such reference, chat or
// message.
var ErrNotFound = apierr.New("messaging", apierr.NotFound, "there is no such reference, chat or message")

// Invalid reports a value that breaks a rule. It has the Field, a path in the
// request, and the Message, to be read after the field; never the value, which
// may be a secret.
type Invalid = apierr.Invalid

// Missing is an id beside that of what is worked on which leads to nothing of
// the account's. It is an [ErrNotFound].
type Missing struct {
	Field   string // path in the request, "message.mediaId"
	Message string
}

// Error names the field and what is missing.
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

	// CodeAmbiguousChat refuses an id that may name another person than meant.
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

// Error names the code and what is refused.
func (e *Error) Error() string { return "messaging: " + e.Code + ": " + e.Message }
