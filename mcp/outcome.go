package mcp

import (
	"encoding/json"
	"math"
	"net/http"
	"time"
)

// The bounds of calls.
const (
	MaxArguments = 256 << 10 // bytes
	MaxDepth     = 32        // objects and arrays within each other
	MaxResult    = 1 << 20   // bytes
	MaxBatch     = 50        // calls
	MaxStray     = 100       // handlers that run although their callers were answered
)

// Request is a call to be executed.
type Request struct {
	Function  string
	Arguments json.RawMessage // a JSON object; empty: {}
	// DryRun makes all checks and has the function say what it would do. It
	// counts against the limits. Its result is {"dryRun": true, "plan": …}.
	DryRun bool
	// Progress, if it is set, is told how far the call is, never after Execute
	// has returned, which waits for it: it should be quick.
	Progress func(done, total float64, text string)
}

// Outcome is what became of a call. Its JSON is what the REST API answers.
type Outcome struct {
	Success       bool            `json:"success"`
	Function      string          `json:"function"`
	Result        json.RawMessage `json:"result"` // nil unless Success
	Error         *Error          `json:"error"`  // nil if Success
	ExecutionTime float64         `json:"executionTime" doc:"Milliseconds."`
	Timestamp     string          `json:"timestamp" doc:"When it was answered, ISO 8601."`
}

// Status is the outcome's in HTTP.
func (o *Outcome) Status() int {
	if o.Error == nil {
		return http.StatusOK
	}
	return o.Error.status()
}

// code is the outcome in one word.
func (o *Outcome) code() string {
	if o.Error == nil {
		return outcomeOK
	}
	return o.Error.Code
}

// outcomeOK is the word for a call that succeeded, where others have a code.
const outcomeOK = "ok"

// iso8601 has milliseconds, and Z for UTC.
const iso8601 = "2006-01-02T15:04:05.000Z07:00"

// outcome makes an answer of a result or an error.
func (r *Registry) outcome(name string, result json.RawMessage, failed *Error, duration time.Duration) Outcome {
	o := Outcome{
		Success: failed == nil, Function: name, Result: result, Error: failed,
		ExecutionTime: math.Round(duration.Seconds()*1e6) / 1e3,
		Timestamp:     r.opts.Now().UTC().Format(iso8601),
	}
	if failed != nil {
		o.Result = nil
	}
	return o
}
