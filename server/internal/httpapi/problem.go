package httpapi

import (
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"time"
)

// Problem is what every refused request is answered with: an RFC 9457
// document. Code is stable; the other texts are for people. Refused values are
// never repeated, because they may be secrets.
type Problem struct {
	Type   string       `json:"type" doc:"Always about:blank. The problem is identified by code."`
	Title  string       `json:"title" doc:"The HTTP status as a phrase."`
	Status int          `json:"status" doc:"The HTTP status."`
	Detail string       `json:"detail" doc:"Explanation of the problem, for people."`
	Code   string       `json:"code" doc:"Stable identifier of the problem." example:"validation"`
	Errors []FieldError `json:"errors" nullable:"false" doc:"With the code validation: each invalid value."`

	Header http.Header   `json:"-"`
	After  time.Duration `json:"-"` // when to try again; 0: not said
}

// FieldError says what is wrong with one value of a request.
type FieldError struct {
	Location string `json:"location" doc:"Path of the invalid value." example:"body.email"`
	Message  string `json:"message" doc:"The rule that the value breaks."`
	Code     string `json:"code,omitempty" doc:"For a flow's problem: its code." example:"graph.target"`
	NodeID   string `json:"nodeId,omitempty" doc:"For a flow's problem: id of the node."`
}

func (p *Problem) Error() string { return p.Code + ": " + p.Detail }

// GetStatus is the HTTP status.
func (p *Problem) GetStatus() int { return p.Status }

// GetHeaders are further headers of the answer.
func (p *Problem) GetHeaders() http.Header { return p.Header }

// ContentType is application/problem+json, whatever was asked for.
func (p *Problem) ContentType(string) string { return problemType }

const problemType = "application/problem+json"

// The codes of problems. Those of one service are named where its errors are
// translated.
const (
	CodeValidation          = "validation"
	CodeUnauthorized        = "unauthorized"
	CodeSecondFactor        = "second_factor_required"
	CodePasskeyCopied       = "passkey_copied"
	CodeForbidden           = "forbidden"
	CodeNotFound            = "not_found"
	CodeMethodNotAllowed    = "method_not_allowed"
	CodeRequestTimeout      = "request_timeout"
	CodeConflict            = "conflict"
	CodeLastOwner           = "last_owner"
	codeSessionNotConnected = "session_not_connected"
	CodeWindowClosed        = "window_closed"
	CodeBudgetExceeded      = "budget_exceeded"
	CodePreconditionFailed  = "precondition_failed"
	CodePayloadTooLarge     = "payload_too_large"
	CodeUnsupportedMedia    = "unsupported_media_type"
	CodeUnsupported         = "unsupported"
	codeAmbiguousChat       = "chatId.ambiguous"
	CodeRateLimited         = "rate_limited"
	CodeInternal            = "internal"
	CodeProviderError       = "provider_error"
	CodeUnavailable         = "unavailable"
	codeQuotaReferences     = "quota.references"
	codeQuotaContacts       = "quota.contacts"
	codeQuotaStorage        = "quota.storage"
	codeQuotaMessages       = "quota.messages"
	codeQuotaRuns           = "quota.runs"
	codeQuotaAPI            = "quota.api"
)

// StatusOf is the HTTP status of each code.
var StatusOf = map[string]int{
	CodeValidation:          http.StatusUnprocessableEntity,
	CodeUnauthorized:        http.StatusUnauthorized,
	CodeSecondFactor:        http.StatusUnauthorized,
	CodePasskeyCopied:       http.StatusUnauthorized,
	CodeForbidden:           http.StatusForbidden,
	CodeNotFound:            http.StatusNotFound,
	CodeMethodNotAllowed:    http.StatusMethodNotAllowed,
	CodeRequestTimeout:      http.StatusRequestTimeout,
	CodeConflict:            http.StatusConflict,
	CodeLastOwner:           http.StatusConflict,
	codeSessionNotConnected: http.StatusConflict,
	CodeWindowClosed:        http.StatusConflict,
	CodeBudgetExceeded:      http.StatusConflict,
	CodePreconditionFailed:  http.StatusPreconditionFailed,
	CodePayloadTooLarge:     http.StatusRequestEntityTooLarge,
	CodeUnsupportedMedia:    http.StatusUnsupportedMediaType,
	CodeUnsupported:         http.StatusUnprocessableEntity,
	codeAmbiguousChat:       http.StatusUnprocessableEntity,
	CodeRateLimited:         http.StatusTooManyRequests,
	CodeInternal:            http.StatusInternalServerError,
	CodeProviderError:       http.StatusBadGateway,
	CodeUnavailable:         http.StatusServiceUnavailable,
	codeQuotaReferences:     http.StatusForbidden,
	codeQuotaContacts:       http.StatusForbidden,
	codeQuotaStorage:        http.StatusForbidden,
	codeQuotaMessages:       http.StatusTooManyRequests,
	codeQuotaRuns:           http.StatusTooManyRequests,
	codeQuotaAPI:            http.StatusTooManyRequests,
}

// NewProblem makes the document of a code; "" is a detail that says no more than
// the status. It panics for a code that has no status.
func NewProblem(code, detail string) *Problem {
	status, ok := StatusOf[code]
	if !ok {
		panic("server: problem of unknown code " + code)
	}
	p := &Problem{
		Type: "about:blank", Title: http.StatusText(status), Status: status,
		Detail: detail, Code: code, Errors: []FieldError{}, Header: http.Header{},
	}
	if detail == "" {
		p.Detail = http.StatusText(status)
	}
	if code == CodeInternal {
		p.Detail = "the server failed; its log has the cause under the id of the request"
	}
	if code == CodeUnauthorized {
		p.Header.Set("WWW-Authenticate", "Bearer")
	}
	return p
}

// Invalid is a validation problem with one value, "body.email".
func Invalid(location, message string) *Problem {
	p := NewProblem(CodeValidation, "the request is not valid")
	p.Errors = append(p.Errors, FieldError{Location: location, Message: message})
	return p
}

// NotFoundAt is an id within a request that leads to nothing of the caller's.
func NotFoundAt(location, message string) *Problem {
	p := NewProblem(CodeNotFound, "an object in the request does not exist")
	p.Errors = append(p.Errors, FieldError{Location: location, Message: message})
	return p
}

// RetryAfter says when to try again, in whole seconds and at least one.
func (p *Problem) RetryAfter(d time.Duration) *Problem {
	p.After = d
	p.Header.Set("Retry-After", strconv.Itoa(WholeSeconds(d)))
	return p
}

// WholeSeconds is d for a Retry-After header.
func WholeSeconds(d time.Duration) int { return max(1, int(math.Ceil(d.Seconds()))) }

// WriteProblem answers outside of the API's own handlers.
func WriteProblem(w http.ResponseWriter, p *Problem) {
	h := w.Header()
	for k, vs := range p.Header {
		h[k] = vs
	}
	h.Set("Content-Type", problemType)
	h.Del("Content-Encoding")
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // a client that has gone
}
