package mcp

import (
	"encoding/json"
	"math"
	"net/http"
	"time"
)

// Limits of calls.
const (
	MaxArguments = 256 << 10 // bytes
	MaxDepth     = 32        // objects and arrays nested in each other
	MaxResult    = 1 << 20   // bytes
	MaxBatch     = 50        // calls
	MaxStray     = 100       // handlers that still run after their deadlines
)

// Request is a call to be executed.
type Request struct {
	Function  string
	Arguments json.RawMessage // a JSON object; empty: {}
	// DryRun makes all checks and returns the plan of the function instead of
	// calling it. It counts against the limits. The result is {"dryRun": true,
	// "plan": …}.
	DryRun bool
	// Progress, if not nil, receives the progress of the call. Execute waits for
	// it, so it should be quick. It is never called after Execute has returned.
	Progress func(done, total float64, text string)
}

// Outcome is the outcome of a call. Its JSON is the answer of the REST API.
type Outcome struct {
	Success       bool            `json:"success"`
	Function      string          `json:"function"`
	Result        json.RawMessage `json:"result"` // nil unless Success
	Error         *Error          `json:"error"`  // nil if Success
	ExecutionTime float64         `json:"executionTime" doc:"Duration of the call, in milliseconds."`
	Timestamp     string          `json:"timestamp" doc:"Time of the answer, in ISO 8601."`
}

// Status returns the HTTP status of the outcome.
func (o *Outcome) Status() int {
	if o.Error == nil {
		return http.StatusOK
	}
	return o.Error.status()
}

// code returns [outcomeOK] or the code of the error.
func (o *Outcome) code() string {
	if o.Error == nil {
		return outcomeOK
	}
	return o.Error.Code
}

// outcomeOK is the outcome of a call that succeeded.
const outcomeOK = "ok"

// iso8601 has milliseconds, and Z for UTC.
const iso8601 = "2006-01-02T15:04:05.000Z07:00"

// outcome returns the Outcome of a result or an error.
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
