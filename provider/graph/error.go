package graph

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/internal/retryafter"
)

// NoCode is the code of an [Error] whose answer had none, because it came from
// a proxy or in a format that the API does not use.
const NoCode = -1

// Error is an answer of the Graph API that refuses a request.
type Error struct {
	HTTPStatus  int // may be 200
	Code        int // identifies the error, with Subcode; [NoCode] if there is none
	Subcode     int
	Type        string // "OAuthException"
	Message     string
	Details     string // details of the error, or ""
	UserTitle   string // for users, in the language of the account, or ""
	UserMessage string
	Transient   bool          // the API says that a retry may succeed
	FBTraceID   string        // identifies the request for Meta's support
	RetryAfter  time.Duration // 0: not known
}

func (e *Error) Error() string {
	s := "refused"
	if e.Code != NoCode {
		s += " with code " + strconv.Itoa(e.Code)
	}
	if e.Subcode != 0 {
		s += "/" + strconv.Itoa(e.Subcode)
	}
	if e.HTTPStatus != 0 {
		s += " (HTTP " + strconv.Itoa(e.HTTPStatus) + ")"
	}
	if text := e.Text(); text != "" {
		s += ": " + text
	}
	return s
}

// Text returns what the API says, in one line.
func (e *Error) Text() string {
	text := e.Message
	for _, more := range []string{e.Details, e.UserMessage} {
		if more != "" && !strings.Contains(text, more) {
			text = strings.TrimPrefix(text+": "+more, ": ")
		}
	}
	return text
}

type envelope struct {
	Error json.RawMessage `json:"error"`
}

type envelopeError struct {
	Message   text            `json:"message"`
	Type      text            `json:"type"`
	Code      ID              `json:"code"`
	Subcode   ID              `json:"error_subcode"`
	Data      json.RawMessage `json:"error_data"`
	Transient bool            `json:"is_transient"`
	Title     text            `json:"error_user_title"`
	Text      text            `json:"error_user_msg"`
	Trace     text            `json:"fbtrace_id"`
}

// refusal decodes an answer that is an error; nil if it is not.
func (c *Client) refusal(res *http.Response, raw []byte) *Error {
	var outer envelope
	_ = json.Unmarshal(raw, &outer) // a value that is not an object contains no error
	has := len(outer.Error) > 0 && string(outer.Error) != "null"
	if !has && res.StatusCode >= 200 && res.StatusCode < 300 {
		return nil
	}
	e := &Error{HTTPStatus: res.StatusCode, Code: NoCode}
	if has {
		e.read(outer.Error)
	}
	if e.Message == "" {
		e.Message = strings.TrimSpace(http.StatusText(res.StatusCode))
	}
	e.RetryAfter = retryAfter(res.Header, c.now())
	e.scrub(c.token)
	return e
}

// read decodes each member separately, so that a member of the wrong type does
// not affect the others.
func (e *Error) read(raw json.RawMessage) {
	var in envelopeError
	_ = json.Unmarshal(raw, &in)
	if code, err := strconv.Atoi(string(in.Code)); err == nil {
		e.Code = code
	}
	e.Subcode, _ = strconv.Atoi(string(in.Subcode))
	e.Type, e.Message, e.Transient = string(in.Type), string(in.Message), in.Transient
	e.UserTitle, e.UserMessage, e.FBTraceID = string(in.Title), string(in.Text), string(in.Trace)
	e.Details = details(in.Data)
}

// details decodes error_data, an object or a string.
func details(raw json.RawMessage) string {
	var object struct {
		Details text `json:"details"`
	}
	if json.Unmarshal(raw, &object) == nil {
		return string(object.Details)
	}
	var s string
	_ = json.Unmarshal(raw, &s)
	return s
}

// scrub removes the token from what the API says, which quotes malformed
// tokens.
func (e *Error) scrub(token string) {
	if token == "" {
		return
	}
	for _, s := range []*string{&e.Message, &e.Details, &e.UserTitle, &e.UserMessage} {
		*s = strings.ReplaceAll(*s, token, "[access token]")
	}
}

// retryAfter returns Retry-After, or else how long a business use case has to
// wait.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if h.Get("Retry-After") != "" {
		return retryafter.Of(h, now)
	}
	return min(max(regain(h.Get("X-Business-Use-Case-Usage")), 0), retryafter.Max)
}

// regain returns the longest wait in a usage header, which is in minutes.
func regain(header string) time.Duration {
	var usage map[string][]struct {
		Minutes int32 `json:"estimated_time_to_regain_access"`
	}
	if header == "" || json.Unmarshal([]byte(header), &usage) != nil {
		return 0
	}
	maxLength := time.Duration(0)
	for _, cases := range usage {
		for _, c := range cases {
			maxLength = max(maxLength, time.Duration(c.Minutes)*time.Minute)
		}
	}
	return maxLength
}
