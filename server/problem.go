package server

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/trunklinehq/trunkline/messaging"
)

// Problem is what every refused request is answered with: an RFC 9457
// document. Code is stable; the other texts are for people. Refused values are
// never repeated, because they may be secrets.
type Problem struct {
	Type   string       `json:"type" doc:"Always about:blank; code says which problem it is."`
	Title  string       `json:"title" doc:"The status in words."`
	Status int          `json:"status" doc:"The HTTP status."`
	Detail string       `json:"detail" doc:"What went wrong, for people."`
	Code   string       `json:"code" doc:"Which problem it is. Stable." example:"validation"`
	Errors []FieldError `json:"errors" nullable:"false" doc:"What is wrong where, for code validation."`

	header http.Header
	after  time.Duration // when to try again; 0: not said
}

// FieldError says what is wrong with one value of a request.
type FieldError struct {
	Location string `json:"location" doc:"Where it stands." example:"body.email"`
	Message  string `json:"message" doc:"Which rule it breaks."`
	Code     string `json:"code,omitempty" doc:"Of a flow's problem: which one it is." example:"graph.target"`
	NodeID   string `json:"nodeId,omitempty" doc:"Of a flow's problem: the node that has it."`
}

func (p *Problem) Error() string { return p.Code + ": " + p.Detail }

// GetStatus is the HTTP status.
func (p *Problem) GetStatus() int { return p.Status }

// GetHeaders are further headers of the answer.
func (p *Problem) GetHeaders() http.Header { return p.header }

// ContentType is application/problem+json, whatever was asked for.
func (p *Problem) ContentType(string) string { return problemType }

const problemType = "application/problem+json"

// The codes of problems. Those of one service are named where its errors are
// translated.
const (
	codeValidation          = "validation"
	codeUnauthorized        = "unauthorized"
	codeSecondFactor        = "second_factor_required"
	codePasskeyCopied       = "passkey_copied"
	codeForbidden           = "forbidden"
	codeNotFound            = "not_found"
	codeMethodNotAllowed    = "method_not_allowed"
	codeRequestTimeout      = "request_timeout"
	codeConflict            = "conflict"
	codeLastOwner           = "last_owner"
	codeSessionNotConnected = "session_not_connected"
	codeWindowClosed        = "window_closed"
	codeBudgetExceeded      = "budget_exceeded"
	codePreconditionFailed  = "precondition_failed"
	codePayloadTooLarge     = "payload_too_large"
	codeUnsupportedMedia    = "unsupported_media_type"
	codeUnsupported         = "unsupported"
	codeAmbiguousChat       = messaging.CodeAmbiguousChat
	codeRateLimited         = "rate_limited"
	codeInternal            = "internal"
	codeProviderError       = "provider_error"
	codeUnavailable         = "unavailable"
	codeQuotaReferences     = "quota.references"
	codeQuotaContacts       = "quota.contacts"
	codeQuotaStorage        = "quota.storage"
	codeQuotaMessages       = "quota.messages"
	codeQuotaRuns           = "quota.runs"
	codeQuotaAPI            = "quota.api"
)

var statusOf = map[string]int{
	codeValidation:          http.StatusUnprocessableEntity,
	codeUnauthorized:        http.StatusUnauthorized,
	codeSecondFactor:        http.StatusUnauthorized,
	codePasskeyCopied:       http.StatusUnauthorized,
	codeForbidden:           http.StatusForbidden,
	codeNotFound:            http.StatusNotFound,
	codeMethodNotAllowed:    http.StatusMethodNotAllowed,
	codeRequestTimeout:      http.StatusRequestTimeout,
	codeConflict:            http.StatusConflict,
	codeLastOwner:           http.StatusConflict,
	codeSessionNotConnected: http.StatusConflict,
	codeWindowClosed:        http.StatusConflict,
	codeBudgetExceeded:      http.StatusConflict,
	codePreconditionFailed:  http.StatusPreconditionFailed,
	codePayloadTooLarge:     http.StatusRequestEntityTooLarge,
	codeUnsupportedMedia:    http.StatusUnsupportedMediaType,
	codeUnsupported:         http.StatusUnprocessableEntity,
	codeAmbiguousChat:       http.StatusUnprocessableEntity,
	codeRateLimited:         http.StatusTooManyRequests,
	codeInternal:            http.StatusInternalServerError,
	codeProviderError:       http.StatusBadGateway,
	codeUnavailable:         http.StatusServiceUnavailable,
	codeQuotaReferences:     http.StatusForbidden,
	codeQuotaContacts:       http.StatusForbidden,
	codeQuotaStorage:        http.StatusForbidden,
	codeQuotaMessages:       http.StatusTooManyRequests,
	codeQuotaRuns:           http.StatusTooManyRequests,
	codeQuotaAPI:            http.StatusTooManyRequests,
}

// problem makes the document of a code; "" is a detail that says no more than
// the status. It panics for a code that has no status.
func problem(code, detail string) *Problem {
	status, ok := statusOf[code]
	if !ok {
		panic("server: problem of unknown code " + code)
	}
	p := &Problem{
		Type: "about:blank", Title: http.StatusText(status), Status: status,
		Detail: detail, Code: code, Errors: []FieldError{}, header: http.Header{},
	}
	if detail == "" {
		p.Detail = http.StatusText(status)
	}
	if code == codeInternal {
		p.Detail = "something went wrong; the server's log has it under the request's id"
	}
	if code == codeUnauthorized {
		p.header.Set("WWW-Authenticate", "Bearer")
	}
	return p
}

// invalid is a validation problem with one value, "body.email".
func invalid(location, message string) *Problem {
	p := problem(codeValidation, "the request is not valid")
	p.Errors = append(p.Errors, FieldError{Location: location, Message: message})
	return p
}

// nowhere is an id within a request that leads to nothing of the caller's.
func nowhere(location, message string) *Problem {
	p := problem(codeNotFound, "the request names what is not there")
	p.Errors = append(p.Errors, FieldError{Location: location, Message: message})
	return p
}

// retryAfter says when to try again, in whole seconds and at least one.
func (p *Problem) retryAfter(d time.Duration) *Problem {
	p.after = d
	p.header.Set("Retry-After", strconv.Itoa(wholeSeconds(d)))
	return p
}

// wholeSeconds is d for a Retry-After header.
func wholeSeconds(d time.Duration) int { return max(1, int(math.Ceil(d.Seconds()))) }

// problemOf translates an error for the client. What nothing translates is
// logged, and the client learns only that it happened.
func (s *Server) problemOf(ctx context.Context, err error) *Problem {
	if p := known(err); p != nil {
		return p
	}
	if p := s.storeProblem(ctx, err); p != nil {
		return p
	}
	if ctx.Err() != nil {
		return problem(codeUnavailable, "the request was ended before it was answered")
	}
	s.log.ErrorContext(ctx, "request failed", slog.Any("error", err))
	return problem(codeInternal, "")
}

// translations make problems of the errors of the services; the first that
// knows one wins.
var translations = []func(error) *Problem{authProblem, secondFactorProblem, passkeyProblem, messagingProblem, webhookProblem, botProblem, flowProblem, runProblem, simulationProblem, credentialProblem, remoteProblem, usageProblem, extractorProblem, knowledgeProblem, quotaProblem}

// known is the problem that err is, or that a service means by it; nil: neither.
func known(err error) *Problem {
	if p := together(err); p != nil {
		return p
	}
	var p *Problem
	if errors.As(err, &p) {
		return p
	}
	for _, translate := range translations {
		if p := translate(err); p != nil {
			return p
		}
	}
	return nil
}

// together is one problem that names all that several joined errors say is
// wrong with a request; nil when err is not that.
func together(err error) *Problem {
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) {
		return nil
	}
	var out *Problem
	for _, one := range joined.Unwrap() {
		p := known(one)
		switch {
		case p == nil || p.Code != codeValidation || len(p.Errors) == 0:
			return nil
		case out == nil:
			copied := *p
			copied.Errors = slices.Clone(p.Errors)
			out = &copied
		default:
			out.Errors = append(out.Errors, p.Errors...)
		}
	}
	return out
}

// writeProblem answers outside of the API's own handlers.
func writeProblem(w http.ResponseWriter, p *Problem) {
	h := w.Header()
	for k, vs := range p.header {
		h[k] = vs
	}
	h.Set("Content-Type", problemType)
	h.Del("Content-Encoding")
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // a client that has gone
}
