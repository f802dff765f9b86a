package graph

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/trunklinehq/trunkline/provider"
)

// SendError turns the failure of a call that sends a message into an error of
// package provider. Where it is not certain that the message stayed here the
// result is a [*provider.Ambiguous].
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

// CallError is [SendError] for a call that may be repeated without harm: what
// is uncertain is a [*provider.Temporary].
func CallError(err error) error {
	out := SendError(err)
	var uncertain *provider.Ambiguous
	if errors.As(out, &uncertain) {
		return &provider.Temporary{Err: err}
	}
	return out
}

// class is what a code means for the message.
type class int

const (
	unknown   class = iota
	rejected        // for good
	auth            // by credentials or permission
	rate            // for now, by a limit
	temporary       // for now, by the API's own trouble
	window          // free-form messages are over
	recipient       // the contact cannot be reached
)

// pair is a code with a sub-code that changes its meaning.
type pair struct{ code, subcode int }

var pairs = map[pair]class{
	{10, 2018278}:  window,
	{10, 2534022}:  window,
	{10, 2018065}:  window, // no permission for messages outside of it
	{10, 2018108}:  recipient,
	{10, 1893063}:  recipient,
	{10, 2018300}:  rejected, // another app has the thread
	{200, 1545041}: recipient,
	{100, 2018001}: recipient,
}

var codes = map[int]class{
	0: auth, 3: auth, 10: auth, 102: auth, 104: auth, 190: auth, 131005: auth,

	4: rate, 17: rate, 32: rate, 613: rate, 80007: rate,
	130429: rate, 131048: rate, 131056: rate, 131064: rate, 133016: rate,

	1: temporary, 2: temporary, 1200: temporary, 131000: temporary, 131016: temporary,
	131057: temporary, 133004: temporary, 133015: temporary, 135000: temporary,

	131047: window,

	551: recipient, 130403: recipient, 131021: recipient, 131026: recipient, 131030: recipient,

	33: rejected, 100: rejected, 368: rejected, 803: rejected, 36000: rejected,
	130472: rejected, 130497: rejected, 131008: rejected, 131009: rejected, 131031: rejected,
	131037: rejected, 131042: rejected, 131044: rejected, 131045: rejected, 131049: rejected,
	131050: rejected, 131051: rejected, 131052: rejected, 131053: rejected, 131060: rejected,
	131062: rejected, 131063: rejected, 133010: rejected, 137000: rejected,
}

// patience is what Meta advises where its answer does not say how long to wait.
var patience = map[int]time.Duration{
	131048: time.Hour, // quality: hours
	131064: time.Hour, // a day's contacts are used up
}

func (e *Error) class() class {
	if c, ok := pairs[pair{e.Code, e.Subcode}]; ok {
		return c
	}
	if c, ok := codes[e.Code]; ok {
		return c
	}
	switch {
	case e.Code >= 200 && e.Code <= 299:
		return auth
	case e.Code >= 80000 && e.Code <= 80014: // limits of business use cases
		return rate
	case e.Code >= 132000 && e.Code <= 139999, e.Code >= 147000 && e.Code <= 147999:
		return rejected // templates, registration, flows, calls, usernames
	case e.Transient:
		return temporary
	default:
		return byStatus(e.HTTPStatus)
	}
}

// byStatus is for answers without a code that we know. Of those only a status
// below 500 proves that nothing was done.
func byStatus(status int) class {
	switch {
	case status == http.StatusTooManyRequests:
		return rate
	case status == http.StatusUnauthorized:
		return auth
	case status == http.StatusRequestTimeout, status >= 300 && status < 400:
		return temporary
	case status < 500:
		return rejected // 2xx too: the body is an error
	default:
		return unknown
	}
}

func (e *Error) outcome() error {
	code, text := "", e.Text()
	if e.Code != NoCode {
		code = strconv.Itoa(e.Code)
	} else if e.HTTPStatus != 0 {
		code = "http_" + strconv.Itoa(e.HTTPStatus)
	}
	switch e.class() {
	case rejected:
		return &provider.Rejected{Code: code, Message: text}
	case auth:
		return &provider.AuthExpired{Code: code, Message: text}
	case rate:
		return &provider.RateLimited{After: max(e.RetryAfter, patience[e.Code]), Code: code, Message: text}
	case temporary:
		return &provider.Temporary{Err: e, After: e.RetryAfter}
	case window:
		return &provider.WindowClosed{Code: code, Message: text}
	case recipient:
		return &provider.BadRecipient{Code: code, Message: text}
	default:
		return &provider.Ambiguous{Err: e}
	}
}
