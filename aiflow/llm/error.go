package llm

import (
	"fmt"
	"time"
)

// Code says why a model did not answer.
type Code string

// Why a model did not answer.
const (
	CodeTimeout     Code = "llm.timeout"
	CodeRateLimited Code = "llm.rate_limited"
	CodeTooLong     Code = "llm.context_too_long"
	CodeFiltered    Code = "llm.content_filter" // the provider refuses the question
	CodeInvalid     Code = "llm.invalid_request"
	CodeForbidden   Code = "llm.forbidden"   // the key is wrong, or may not use the model
	CodeNoModel     Code = "llm.no_model"    // there is no such model or provider
	CodeUnavailable Code = "llm.unavailable" // it cannot be reached, or fails itself
	CodeTruncated   Code = "llm.cut"         // the answer broke off
	CodeMalformed   Code = "llm.malformed"   // the answer cannot be understood
)

// Error says why a model did not answer. Its text holds nothing of what was
// asked or answered.
type Error struct {
	Code     Code
	Message  string
	Status   int           // of HTTP; 0: there was none
	After    time.Duration // how long to wait before the next attempt; 0: unknown
	Streamed bool          // parts of the answer have been given to OnText
	Usage    Usage         // what it took all the same, when that is known
	Provider string        // who refused
	Model    string        // the model that was asked
	Err      error         // what the provider's client said; nil: nothing
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Code, e.Message) }

func (e *Error) Unwrap() error { return e.Err }

// Temporary says that another attempt may succeed.
func (e *Error) Temporary() bool {
	switch e.Code {
	case CodeTimeout, CodeRateLimited, CodeUnavailable, CodeTruncated, CodeMalformed:
		return true
	}
	return false
}
