package flow

import (
	"errors"
	"maps"

	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
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

// fault is err as the error of the node that runs.
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
		e.Node = t.Node.Id
	}
	return e
}

// failed takes a node's error output, or hands its error up.
func (t *Turn) failed(n *step, err error) *step {
	var limit *limitError
	if errors.As(err, &limit) {
		limit.why.Node = n.Id
		t.failing(n, limit.why)
		t.Row.Error = limit.why
		t.trace()
		t.fail(limit.why)
		return nil
	}
	e := t.Fault(err)
	t.failing(n, e)
	if f := t.Top(); f.Loop != nil && f.Node == n.Id {
		t.Pop() // the loop itself failed, not one of its rounds
	}
	t.Row.Error = e
	if next := n.Next["error"]; next != nil {
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
		f, g := t.Top(), t.Graph()
		switch {
		case f.Loop != nil:
			n = g.Steps[f.Node]
			if n.config.(looper).LoopRole().GoesOn {
				t.showError(e)
				f.Loop.Failed = true
				return n
			}
			t.Pop()
		case g.onError != nil && !f.Caught:
			f.Caught = true
			t.showError(e)
			return g.onError
		case len(t.State.Frames) > 1:
			node := t.Pop().Node
			n = t.Graph().Steps[node]
		default:
			t.fail(e)
			return nil
		}
		if n.Next["error"] != nil {
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
