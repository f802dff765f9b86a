// Package apierr is the family of errors by which services refuse a call. An
// error of this family says by itself what a client is told, so that the REST
// API, the MCP functions and the command line need no table of their own.
//
// Services give the types their own names, as in
//
//	type Invalid = apierr.Invalid
//
//	var ErrNotFound = apierr.New("webhook", apierr.NotFound, "there is no such webhook")
package apierr

// The codes of refusals that many services share, as clients see them.
const (
	Conflict           = "conflict"
	Forbidden          = "forbidden"
	NotFound           = "not_found"
	PreconditionFailed = "precondition_failed"
	RateLimited        = "rate_limited"
	Unauthorized       = "unauthorized"
	Unavailable        = "unavailable"
	Unsupported        = "unsupported"
)

// Invalid reports a value that breaks a rule. It never repeats the value, which
// may be a secret.
type Invalid struct {
	Field   string // path in the request: "name", "items[2].model"
	Message string // what is wrong, to be read after the field: "must not be empty"
}

func (e *Invalid) Error() string { return e.Field + " " + e.Message }

// Error is a refusal of a service.
type Error struct {
	Code    string // stable, as clients see it: one of those above, or the service's own
	Message string // what is wrong and what helps, for people

	service string
}

// New returns a refusal of the service with that name. Each call returns another
// error, as errors.New does.
func New(service, code, message string) error { return &Error{code, message, service} }

func (e *Error) Error() string { return e.service + ": " + e.Message }
