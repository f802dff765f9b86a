package graph

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/trunklinehq/trunkline/provider"
)

// SendError converts the failure of a call that sends a message into an error
// of package provider. If the message may have been sent, it is a
// [*provider.Ambiguous].
func SendError(err error) error {
	var refused *Error
	var early *unsent
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused):
		return refused.outcome()
	case errors.As(err, &early):
		return &provider.Temporary{Err: err}
	default:
		return &provider.Ambiguous{Err: err}
	}
}

// CallError is [SendError] for a call that may be repeated: an uncertain
// outcome is a [*provider.Temporary].
func CallError(err error) error {
	out := SendError(err)
	if _, ok := errors.AsType[*provider.Ambiguous](out); ok {
		return &provider.Temporary{Err: err}
	}
	return out
}

// byStatus classifies answers without a known code. Only a status below 500
// proves that nothing was done.
func byStatus(status int) class {
	switch {
	case status == http.StatusTooManyRequests:
		return rate
	case status == http.StatusUnauthorized:
		return auth
	case status == http.StatusRequestTimeout, status >= 300 && status < 400:
		return temporary
	case status < 500:
		return rejected // also 2xx: the body is an error
	default:
		return unknown
	}
}

func (e *Error) outcome() error {
	m, known := e.meaning()
	switch {
	case known:
	case e.Transient:
		m.class = temporary
	default:
		m.class = byStatus(e.HTTPStatus)
	}
	return e.as(m)
}

// as returns the provider error for e.
func (e *Error) as(m meaning) error {
	code := ""
	if e.Code != NoCode {
		code = strconv.Itoa(e.Code)
	} else if e.HTTPStatus != 0 {
		code = "http_" + strconv.Itoa(e.HTTPStatus)
	}
	text := e.Text()
	switch m.class {
	case rejected:
		return &provider.Rejected{Code: code, Message: text, Advice: m.advice}
	case auth:
		return &provider.AuthExpired{Code: code, Message: text, Advice: m.advice}
	case rate:
		return &provider.RateLimited{After: max(e.RetryAfter, m.after), Code: code, Message: text, Advice: m.advice}
	case temporary:
		return &provider.Temporary{Err: e, After: e.RetryAfter}
	case window:
		return &provider.WindowClosed{Code: code, Message: text, Advice: m.advice}
	case recipient:
		return &provider.BadRecipient{Code: code, Message: text, Advice: m.advice}
	default:
		return &provider.Ambiguous{Err: e}
	}
}
