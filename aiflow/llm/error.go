package llm

import (
	"fmt"
	"time"
)

// Code is the reason why a model did not answer.
type Code string

// Reasons why a model did not answer.
const (
	CodeTimeout     Code = "llm.timeout"
	CodeRateLimited Code = "llm.rate_limited"
	CodeTooLong     Code = "llm.context_too_long"
	CodeFiltered    Code = "llm.content_filter" // the provider refuses the question because of its content
	CodeInvalid     Code = "llm.invalid_request"
	CodeForbidden   Code = "llm.forbidden"   // the key is invalid, or may not use the model
	CodeNoModel     Code = "llm.no_model"    // there is no such model or provider
	CodeUnavailable Code = "llm.unavailable" // it cannot be reached, or has an internal error
	CodeTruncated   Code = "llm.cut"         // the answer ended early
	CodeMalformed   Code = "llm.malformed"   // the answer cannot be parsed
)

// Error is the error of a model that did not answer. Its text quotes neither the
// request nor the answer.
type Error struct {
	Code     Code
	Message  string
	Status   int           // of HTTP; 0: there was no response
	After    time.Duration // how long to wait before the next attempt; 0: unknown
	Streamed bool          // parts of the answer have been passed to OnText
	Usage    Usage         // of the failed call, if known
	Provider string        // the provider that refused
	Model    string        // the model that was asked
	Err      error         // the error of the provider's client; nil: none
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Code, e.Message) }

func (e *Error) Unwrap() error { return e.Err }

// Temporary reports whether another attempt may succeed.
func (e *Error) Temporary() bool {
	switch e.Code {
	case CodeTimeout, CodeRateLimited, CodeUnavailable, CodeTruncated, CodeMalformed:
		return true
	}
	return false
}
