package mcp

import (
	"net/http"
	"time"
)

// Codes of [Error] that the registry itself returns. Handlers may return any code.
// Codes of the REST API have the same HTTP status here.
const (
	CodeUnknownFunction  = "unknown_function"
	CodeInvalidArguments = "invalid_arguments"
	CodeRateLimited      = "rate_limited"
	CodeForbidden        = "forbidden"
	CodeNotFound         = "not_found"
	CodeTimeout          = "timeout"
	CodeUnavailable      = "unavailable"
	CodeTooLarge         = "payload_too_large" // of the result
	CodeInternal         = "internal"
)

// Error is the error that the caller of a function sees. Models see all of its
// texts: these must not repeat a value, which may be secret, and must not reveal
// internals.
type Error struct {
	Code    string   `json:"code" doc:"Stable identifier of the error."`
	Message string   `json:"message" doc:"Explanation of the error, for models and people."`
	Details []Detail `json:"details" nullable:"false" doc:"The problem with each invalid argument."`

	// RetryAfter is how long to wait before another attempt; 0: unknown.
	RetryAfter time.Duration `json:"-"`
	// Status is the HTTP status; 0: that of the code, or 422 if it has none.
	Status int `json:"-"`
}

func (e *Error) Error() string { return "mcp: " + e.Code + ": " + e.Message }

// Detail says what is wrong with an argument.
type Detail struct {
	Argument string `json:"argument" doc:"Path of the argument, for example \"input.items[2].name\"; \"arguments\" for all of them."`
	Message  string `json:"message" doc:"The rule that it breaks."`
}

// statuses maps codes to their HTTP statuses.
var statuses = map[string]int{
	CodeUnknownFunction:     http.StatusNotFound,
	CodeInvalidArguments:    http.StatusUnprocessableEntity,
	CodeRateLimited:         http.StatusTooManyRequests,
	CodeForbidden:           http.StatusForbidden,
	CodeNotFound:            http.StatusNotFound,
	CodeTimeout:             http.StatusGatewayTimeout,
	CodeUnavailable:         http.StatusServiceUnavailable,
	CodeTooLarge:            http.StatusRequestEntityTooLarge,
	CodeInternal:            http.StatusInternalServerError,
	"unauthorized":          http.StatusUnauthorized,
	"request_timeout":       http.StatusRequestTimeout,
	"conflict":              http.StatusConflict,
	"session_not_connected": http.StatusConflict,
	"window_closed":         http.StatusConflict,
	"budget_exceeded":       http.StatusConflict,
	"quota.references":      http.StatusForbidden,
	"quota.contacts":        http.StatusForbidden,
	"quota.storage":         http.StatusForbidden,
	"quota.messages":        http.StatusTooManyRequests,
	"quota.runs":            http.StatusTooManyRequests,
	"quota.api":             http.StatusTooManyRequests,
	"precondition_failed":   http.StatusPreconditionFailed,
	"provider_error":        http.StatusBadGateway,
}

func (e *Error) status() int {
	if e.Status != 0 {
		return e.Status
	}
	if s, ok := statuses[e.Code]; ok {
		return s
	}
	return http.StatusUnprocessableEntity
}
