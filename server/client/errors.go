package client

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"
)

// Error is a refusal of the server.
type Error struct {
	Status     int    // of HTTP
	Code       string // which problem it is: one of the Code… constants, or a newer one; "": no problem document came
	Detail     string // for people
	Fields     []Field
	RequestID  string        // the server's log has it, too
	RetryAfter time.Duration // 0: not said
}

// Field is one value of the request that is wrong.
type Field struct {
	Location string `json:"location"` // "body.email"
	Message  string `json:"message"`
	Code     string `json:"code"`   // of a flow's problem
	NodeID   string `json:"nodeId"` // of a flow's problem
}

// Error names the code and, of a value that is wrong, its place.
func (e *Error) Error() string {
	text := "client: " + strconv.Itoa(e.Status)
	if e.Code != "" {
		text += " " + e.Code
	}
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	if len(e.Fields) > 0 {
		text += ": " + e.Fields[0].Location + " " + e.Fields[0].Message
	}
	return text
}

// CodeOf is the code of an error that is an [*Error], else "".
func CodeOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return ""
}

// refusal reads an answer that is none of success.
func refusal(r *http.Response, body []byte) *Error {
	e := &Error{Status: r.StatusCode, RequestID: r.Header.Get("X-Request-Id"), RetryAfter: retryAfter(r)}
	var p struct {
		Code, Detail string
		Errors       []Field
	}
	if json.Unmarshal(body, &p) == nil {
		e.Code, e.Detail, e.Fields = p.Code, p.Detail, p.Errors
	}
	if e.Code == "" && e.Detail == "" {
		e.Detail = http.StatusText(r.StatusCode)
	}
	return e
}

func retryAfter(r *http.Response) time.Duration {
	n, err := strconv.Atoi(r.Header.Get("Retry-After"))
	if err != nil || n < 0 {
		return 0
	}
	return time.Duration(n) * time.Second
}
