package flow

import (
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// Codes with which those who do effects say what went wrong. After the first
// two groups a call is repeated if its node says so: always when nobody can have
// heard it, else when that is safe.
const (
	CodeHTTPConnect    = "http.connect" // nobody heard the request
	CodeHTTPTimeout    = "http.timeout"
	CodeMCPConnect     = "mcp.connect" // nobody heard the request
	CodeMCPTimeout     = "mcp.timeout"
	CodeLLMLimited     = "llm.rate_limited" // the request was turned away
	CodeLLMTimeout     = "llm.timeout"
	CodeLLMUnavailable = "llm.unavailable"

	CodeNodeFailed      = "node.failed" // by the function of a node of one's own
	CodeNodeTimeout     = "node.timeout"
	CodeNodeUnavailable = "node.unavailable" // nothing was done

	CodeHTTPBody    = "http.bad_body"
	CodeHTTPAuth    = "http.credential"    // there is none, or it cannot be used
	CodeUnsupported = "effect.unsupported" // nobody answers calls of the kind, or does such a thing
	CodeUnknown     = "effect.unknown"     // a call that must not be made twice was begun, and nobody knows its end
	CodeNoChat      = "channel.no_chat"

	codeNoType = "unknown.type" // of a node that the program of an earlier time had
)

// Error is what went wrong in a run: what error outputs carry, and what
// expressions see as error.
type Error struct {
	Code    string         `json:"code"` // such as http.timeout
	Message string         `json:"message"`
	Node    string         `json:"node,omitempty"`
	Attempt int            `json:"attempt,omitempty"`
	Detail  map[string]any `json:"detail,omitempty"`
}

// Error returns the code and the message.
func (e *Error) Error() string { return e.Code + ": " + e.Message }

// Fault is err as the error of the node that runs.
func (t *Turn) Fault(err error) *Error {
	var e *Error
	var x *expression.Error
	switch {
	case errors.As(err, &e):
		c := *e
		c.Detail = maps.Clone(e.Detail)
		e = &c
	case errors.As(err, &x):
		e = &Error{Code: x.Code, Message: x.Message, Detail: map[string]any{"at": x.At}}
	default:
		e = &Error{Code: "internal", Message: err.Error()}
	}
	if e.Node == "" {
		e.Node = t.node.id
	}
	return e
}

// failed takes a node's error output, or hands its error up.
func (t *Turn) failed(n *step, err error) *step {
	var limit *limitError
	if errors.As(err, &limit) {
		limit.why.Node = n.id
		t.failing(n, limit.why)
		t.Row.Error = limit.why
		t.trace()
		t.fail(limit.why)
		return nil
	}
	e := t.Fault(err)
	t.failing(n, e)
	if f := t.top(); f.Loop != nil && f.Node == n.id {
		t.pop() // the loop itself failed, not one of its rounds
	}
	t.Row.Error = e
	if next := n.next["error"]; next != nil {
		t.Row.Output = "error"
		t.trace()
		t.showError(e)
		return next
	}
	t.trace()
	return t.raise(e)
}

// raise finds who takes an error that the node itself does not: the loops and
// calls around it, the onError of its graph. Otherwise the run fails.
func (t *Turn) raise(e *Error) *step {
	for {
		var n *step
		f, g := t.top(), t.graph()
		switch {
		case f.Loop != nil:
			n = g.steps[f.Node]
			if n.config.(looper).LoopRole().GoesOn {
				t.showError(e)
				f.Loop.Failed = true
				return n
			}
			t.pop()
		case g.onError != nil && !f.Caught:
			f.Caught = true
			t.showError(e)
			return g.onError
		case len(t.State.Frames) > 1:
			node := t.pop().Node
			n = t.graph().steps[node]
		default:
			t.fail(e)
			return nil
		}
		if n.next["error"] != nil {
			t.showError(e)
			return t.leave(n, "error", nil, e)
		}
	}
}

// showError lets expressions of the graph that runs see an error.
func (t *Turn) showError(e *Error) {
	t.Scope().Error = e
	t.Env["error"] = errorValue(e)
}

// errorValue is an error as expressions see it.
func errorValue(e *Error) any {
	if e == nil {
		return nil
	}
	return map[string]any{
		"code": e.Code, "message": e.Message, "node": e.Node, "attempt": e.Attempt, "detail": ValueOf(e.Detail),
	}
}

// Failure is the step that failed a run, for [Retry].
type Failure struct {
	Node string    `json:"node"`
	At   time.Time `json:"at"`
	// Call is the key of the call that failed, "" if none did, and Tries how
	// often it was made. Another attempt has the same key.
	Call  string `json:"call,omitempty"`
	Tries int    `json:"tries,omitempty"`
	// Once says that the call must not be made twice, and that the other side
	// may have heard it.
	Once bool `json:"once,omitempty"`
}

// failure is where a run stands while it is asked who takes an error: nobody
// does, and this is kept.
type failure struct {
	at     Failure
	frames []Frame
}

// failing notes that a step failed, before calls and loops around it are left.
func (t *Turn) failing(n *step, e *Error) {
	f := &failure{at: Failure{Node: n.id, At: t.World.Now}, frames: t.State.Frames}
	if w := t.WaitedFor; w != nil && w.Kind == WaitEffect && w.Node == n.id {
		f.at.Call, f.at.Tries, f.at.Once = values.TextOf(w.Data), w.Tries, w.Once && !e.undelivered() && !e.Safe()
	}
	t.failure = f
}

// keepFailure lets the run that has failed be retried. Its frames stay as they
// were; their timers are gone.
func (t *Turn) keepFailure() {
	if t.failure == nil {
		return
	}
	t.State.Failed, t.State.Frames = &t.failure.at, slices.Clone(t.failure.frames)
	for i := range t.State.Frames {
		t.State.Frames[i].Timer = ""
	}
}

// retry goes on with the step that failed. Calls around it have as much time
// as they had left.
func (t *Turn) retry() {
	f := t.State.Failed
	t.State.Failed, t.State.Ended = nil, nil
	t.State.Timeouts = 0
	t.State.Retries++
	t.retried = t.State.Retries
	for i := range t.State.Frames {
		if d := &t.State.Frames[i].Deadline; !d.IsZero() {
			*d = d.Add(t.World.Now.Sub(f.At))
		}
	}
	t.uncatch()
	n := t.graph().steps[f.Node]
	if f.Call != "" {
		t.WaitedFor = &Wait{Kind: WaitEffect, Node: f.Node, Tries: f.Tries, Data: f.Call}
	}
	t.State.Steps++
	t.recent = append(t.recent, n.id)
	exit, err := t.perform(n, nil)
	next := t.follow(n, exit, err)
	t.WaitedFor = nil
	t.run(next)
}

// retries reports whether a run that ended can be retried.
func (s *State) retries(in Retry) bool {
	return s.Ended.Status == StatusFailed && s.Failed != nil && (in.Repeat || !s.Failed.Once)
}

// undelivered reports whether the other side of a call cannot have heard it.
func (e *Error) undelivered() bool {
	switch e.Code {
	case CodeHTTPConnect, CodeMCPConnect, CodeLLMLimited, CodeNodeUnavailable, CodeHTTPAuth, CodeUnsupported:
		return true
	case CodeHTTPStatus: // too many requests, or not now
		return e.Detail["status"] == 429 || e.Detail["status"] == 503
	}
	return false
}

// RetryConfig is how often and when a call that failed for now is repeated.
type RetryConfig struct {
	Max    int           `json:"max" default:"0" min:"0" max:"5" doc:"Attempts after the first."`
	Delay  time.Duration `json:"delay" default:"PT1S" min:"PT0.1S" max:"PT60S" doc:"Before the second attempt."`
	Factor float64       `json:"factor" default:"2" min:"1" max:"4" doc:"By which the delay grows each time."`
}

// Safe reports whether a tool says of itself that its call, which failed, may
// be made again.
func (e *Error) Safe() bool { return e.Detail["safe"] == true }
