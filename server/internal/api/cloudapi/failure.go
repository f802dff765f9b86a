package cloudapi

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
)

// failure is an error as Meta answers it:
// https://developers.facebook.com/docs/whatsapp/cloud-api/support/error-codes
type failure struct {
	Error metaError `json:"error"`

	status int // of HTTP
}

type metaError struct {
	Message string     `json:"message"`
	Type    string     `json:"type"`
	Code    int        `json:"code"`
	Subcode int        `json:"error_subcode,omitempty"`
	Data    *errorData `json:"error_data,omitempty"`
	Trace   string     `json:"fbtrace_id"`
}

type errorData struct {
	Product string `json:"messaging_product"`
	Details string `json:"details"`
}

// meaning is what Meta calls a problem.
type meaning struct {
	status, code, subcode int
	text                  string
}

// Codes of Meta.
const (
	codeInvalid    = 100
	codeDenied     = 10
	codeRate       = 130429
	codeFailed     = 131000
	codeBusy       = 131016
	codeUpload     = 131053
	subcodeMissing = 33
)

var meanings = map[string]meaning{
	httpapi.CodeUnauthorized:          {http.StatusUnauthorized, 190, 0, "Authentication Error"},
	httpapi.CodeSecondFactor:          {http.StatusUnauthorized, 190, 0, "Authentication Error"},
	httpapi.CodeForbidden:             {http.StatusForbidden, codeDenied, 0, "Permission Denied"},
	httpapi.CodeValidation:            {http.StatusBadRequest, codeInvalid, 0, "Invalid parameter"},
	httpapi.CodeNotFound:              {http.StatusBadRequest, codeInvalid, subcodeMissing, "Object does not exist, or cannot be loaded due to missing permissions"},
	httpapi.CodeWindowClosed:          {http.StatusBadRequest, 131047, 0, "Re-engagement message"},
	httpapi.CodeUnsupported:           {http.StatusBadRequest, 131051, 0, "Unsupported message type"},
	httpapi.CodeUnsupportedMedia:      {http.StatusBadRequest, codeUpload, 0, "Media upload error"},
	httpapi.CodePayloadTooLarge:       {http.StatusRequestEntityTooLarge, codeUpload, 0, "Media upload error"},
	httpapi.CodeRateLimited:           {http.StatusTooManyRequests, codeRate, 0, "Rate limit hit"},
	httpapi.CodeUnavailable:           {http.StatusServiceUnavailable, codeBusy, 0, "Service unavailable"},
	messaging.CodeSessionNotConnected: {http.StatusServiceUnavailable, codeBusy, 0, "Service unavailable"},
	httpapi.CodeProviderError:         {http.StatusBadRequest, codeFailed, 0, "Something went wrong"},
	httpapi.CodeInternal:              {http.StatusInternalServerError, codeFailed, 0, "Something went wrong"},
	httpapi.CodeRequestTimeout:        {http.StatusRequestTimeout, codeInvalid, 0, "Invalid parameter"},
}

// refuse returns the answer to a request that failed.
func (a *API) refuse(ctx context.Context, w http.ResponseWriter, err error) *failure {
	p := a.problem(ctx, err)
	m, known := meanings[p.Code]
	switch {
	case known:
	case p.Status == http.StatusTooManyRequests:
		m = meanings[httpapi.CodeRateLimited]
	case p.Status == http.StatusForbidden:
		m = meanings[httpapi.CodeForbidden]
	default:
		m = meaning{p.Status, codeInvalid, 0, "Invalid parameter"}
	}
	if refused, ok := errors.AsType[*messaging.Error](err); ok {
		if code, err := strconv.Atoi(refused.ProviderCode); err == nil { // of the network itself
			m.code = code
		}
	}
	for name, values := range p.Header {
		w.Header()[name] = values
	}
	return &failure{status: m.status, Error: metaError{
		Message: "(#" + strconv.Itoa(m.code) + ") " + m.text, Type: "OAuthException", Code: m.code, Subcode: m.subcode,
		Data: &errorData{"whatsapp", details(p)}, Trace: httpapi.RequestOf(ctx).ID,
	}}
}

// problem returns the problem of an error, whose locations are those of Meta's body.
func (a *API) problem(ctx context.Context, err error) *httpapi.Problem {
	var bad []error
	if joined, ok := err.(interface{ Unwrap() []error }); ok { // several fields
		bad = joined.Unwrap()
	} else {
		bad = []error{err}
	}
	var all *httpapi.Problem
	for _, e := range bad {
		field, ok := errors.AsType[*provider.Invalid](e)
		if !ok {
			return a.Problem(ctx, err)
		}
		p := httpapi.Invalid(field.Field, field.Message)
		if all == nil {
			all = p
			continue
		}
		all.Errors = append(all.Errors, p.Errors...)
	}
	return all
}

// details says what is wrong, with the fields.
func details(p *httpapi.Problem) string {
	if len(p.Errors) == 0 {
		return p.Detail
	}
	fields := make([]string, len(p.Errors))
	for i, e := range p.Errors {
		fields[i] = strings.TrimPrefix(e.Location, "body.") + " " + e.Message
	}
	return strings.Join(fields, "; ")
}
