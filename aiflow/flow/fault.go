package flow

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// Codes of errors of effects. After an error of the first two groups a call is
// retried if its node says so: in any case if it did not reach the server,
// otherwise only if that is safe.
const (
	CodeHTTPConnect    = "http.connect" // the request reached no server
	CodeHTTPTimeout    = "http.timeout"
	CodeMCPConnect     = "mcp.connect" // the request reached no server
	CodeMCPTimeout     = "mcp.timeout"
	CodeLLMLimited     = "llm.rate_limited" // the server refused the request for now
	CodeLLMTimeout     = "llm.timeout"
	CodeLLMUnavailable = "llm.unavailable"

	CodeNodeFailed      = "node.failed" // returned by the function of a custom node type
	CodeNodeTimeout     = "node.timeout"
	CodeNodeUnavailable = "node.unavailable" // nothing was done

	CodeHTTPBody    = "http.bad_body"
	CodeHTTPAuth    = "http.credential"    // it does not exist or cannot be used
	CodeUnsupported = "effect.unsupported" // the engine does not support calls of the kind
	CodeUnknown     = "effect.unknown"     // a call that must not be made twice was started, and its outcome is unknown
	CodeNoChat      = "channel.no_chat"

	codeNoType = "unknown.type" // the program no longer has the node type
)

// Error is an error in a run: error outputs carry it, and expressions see it as
// error.
type Error struct {
	Code    string         `json:"code"` // such as http.timeout
	Message string         `json:"message"`
	Node    string         `json:"node,omitempty"`
	Attempt int            `json:"attempt,omitempty"`
	Detail  map[string]any `json:"detail,omitempty"`
}

// Error returns the code and the message.
func (e *Error) Error() string { return e.Code + ": " + e.Message }

// Fault converts err to an Error of the current node.
func (t *Turn) Fault(err error) *Error {
	var e *Error
	var x *expression.Error
	switch err = ofRun(err); {
	case errors.As(err, &e):
		c := *e
		c.Detail = maps.Clone(e.Detail)
		e = &c
	case errors.As(err, &x):
		e = &Error{Code: x.Code, Message: x.Message, Detail: map[string]any{"at": x.At}}
	default:
		e = &Error{Code: "internal", Message: err.Error()}
	}
	e.Node = cmp.Or(e.Node, t.node.id)
	return e
}

// failed takes a node's error output, or raises its error.
func (r runner) failed(n *step, err error) *step {
	if limit, ok := errors.AsType[*limitError](err); ok {
		limit.why.Node = n.id
		r.failing(n, limit.why)
		r.Row.Error = limit.why
		r.trace()
		r.fail(limit.why)
		return nil
	}
	e := r.Fault(err)
	r.failing(n, e)
	if f := r.top(); f.Loop != nil && f.Node == n.id {
		r.pop() // the loop node itself failed, not a round
	}
	r.Row.Error = e
	if next := n.next["error"]; next != nil {
		r.Row.Output = "error"
		r.trace()
		r.showError(e)
		return next
	}
	r.trace()
	return r.raise(e)
}

// raise finds a handler for an error that the node itself does not handle: the
// loops and calls around it, or the onError of its document. Without a handler the
// run fails.
func (r runner) raise(e *Error) *step {
	for {
		var n *step
		f, g := r.top(), r.graph()
		switch {
		case f.Loop != nil:
			n = g.steps[f.Node]
			if n.config.(looper).LoopRole().GoesOn {
				r.showError(e)
				f.Loop.Failed = true
				return n
			}
			r.pop()
		case g.onError != nil && !f.Caught:
			f.Caught = true
			r.showError(e)
			return g.onError
		case len(r.State.Frames) > 1:
			node := r.pop().Node
			n = r.graph().steps[node]
		default:
			r.fail(e)
			return nil
		}
		if n.next["error"] != nil {
			r.showError(e)
			return r.leave(n, "error", nil, e)
		}
	}
}

// errorValue returns an error as expressions see it.
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
	// Call is the key of the call that failed, "" if none did. Tries is the number
	// of its attempts. Another attempt has the same key.
	Call  string `json:"call,omitempty"`
	Tries int    `json:"tries,omitempty"`
	// Once reports that the call must not be made twice, and that it may have
	// reached the other side.
	Once bool `json:"once,omitempty"`
}

// failure is the position of a run while a handler for its error is sought. It is
// kept if there is none.
type failure struct {
	at     Failure
	frames []Frame
}

// failing records the step that failed, before calls and loops around it are left.
func (r runner) failing(n *step, e *Error) {
	f := &failure{at: Failure{Node: n.id, At: r.World.Now}, frames: r.State.Frames}
	if w := r.WaitedFor; w != nil && w.Kind == WaitEffect && w.Node == n.id {
		f.at.Call, f.at.Tries, f.at.Once = values.TextOf(w.Data), w.Tries, w.Once && !e.undelivered() && !e.Safe()
	}
	r.failure = f
}

// keepFailure makes a failed run retryable. It restores the frames without their
// timers.
func (r runner) keepFailure() {
	if r.failure == nil {
		return
	}
	r.State.Failed, r.State.Frames = &r.failure.at, slices.Clone(r.failure.frames)
	for i := range r.State.Frames {
		r.State.Frames[i].Timer = ""
	}
}

// retry repeats the step that failed. Calls around it have the rest of their time.
func (r runner) retry() {
	f := r.State.Failed
	r.State.Failed, r.State.Ended = nil, nil
	r.State.Timeouts = 0
	r.State.Retries++
	r.retried = r.State.Retries
	for i := range r.State.Frames {
		if d := &r.State.Frames[i].Deadline; !d.IsZero() {
			*d = d.Add(r.World.Now.Sub(f.At))
		}
	}
	r.uncatch()
	n := r.graph().steps[f.Node]
	if f.Call != "" {
		r.WaitedFor = &Wait{Kind: WaitEffect, Node: f.Node, Tries: f.Tries, Data: f.Call}
	}
	r.State.Steps++
	r.recent = append(r.recent, n.id)
	exit, err := r.perform(n, nil)
	next := r.follow(n, exit, err)
	r.WaitedFor = nil
	r.run(next)
}

// retries reports whether a run that has ended can be retried.
func (s *State) retries(in Retry) bool {
	return s.Ended.Status == StatusFailed && s.Failed != nil && (in.Repeat || !s.Failed.Once)
}

// undelivered reports whether a call certainly had no effect on the other side.
func (e *Error) undelivered() bool {
	switch e.Code {
	case CodeHTTPConnect, CodeMCPConnect, CodeLLMLimited, CodeNodeUnavailable, CodeHTTPAuth, CodeUnsupported:
		return true
	case CodeHTTPStatus: // too many requests, or temporarily unavailable
		return e.Detail["status"] == 429 || e.Detail["status"] == 503
	}
	return false
}

// RetryConfig configures the retries of a call after temporary errors.
type RetryConfig struct {
	Max    int           `json:"max" default:"0" min:"0" max:"5" doc:"Maximum number of retries."`
	Delay  time.Duration `json:"delay" default:"PT1S" min:"PT0.1S" max:"PT60S" doc:"Delay before the first retry."`
	Factor float64       `json:"factor" default:"2" min:"1" max:"4" doc:"Factor by which the delay grows with each retry."`
}

// Safe reports whether the hints of a tool allow to retry a call that failed.
func (e *Error) Safe() bool { return e.Detail["safe"] == true }

// Limits of a turn. At a limit the turn is stored, and another one continues.
const (
	limitTurnSteps    = 250
	limitTurnEffects  = 50
	limitTurnMessages = 20
	limitTurnBytes    = 16 << 20 // that its expressions allocate
	limitTurnWork     = 32 << 20 // bytes of variables that it writes or counts

	stepEffects = 6 // maximum of one node
)

// Limits of a run. At a limit the run fails; error outputs do not handle that.
const (
	limitRunSteps    = 100_000
	limitRunTurns    = 1000
	limitRunFrames   = 16
	maxRunTTL        = 100 * 24 * time.Hour
	limitRunTimeouts = 5  // consecutive, without input from outside
	limitRunSame     = 20 // messages with the same content
	sameWithin       = 5 * time.Minute

	keepSaid   = 64 // contents that are counted
	keepRecent = 12 // nodes that a state remembers
)

// Codes of the limits of a run.
const (
	codeRunSteps    = "run.steps"
	codeRunTurns    = "run.turns"
	codeRunFrames   = "run.frames"
	codeRunTTL      = "run.life"
	codeRunTimeouts = "run.timeouts"
	codeRunSame     = "run.same_message"
)

// limitError is an error that ends the run.
type limitError struct{ why *Error }

func (e *limitError) Error() string { return e.why.Error() }

// overLimit returns the error for a limit of a run.
func overLimit(code, format string, args ...any) *limitError {
	return &limitError{&Error{Code: code, Message: fmt.Sprintf(format, args...)}}
}

// overBudget reports whether the turn has reached a limit and should end.
func (r runner) overBudget() bool {
	return len(r.Trace) >= limitTurnSteps || len(r.Effects) > limitTurnEffects-stepEffects || r.messages >= limitTurnMessages ||
		r.work > limitTurnWork || r.budget.Steps < limitTurnSteps*expression.MaxSteps || r.budget.Bytes < limitTurnBytes
}

// budget returns the budget of expressions in one turn. It is twice a turn's share,
// so that the node that exceeds the share still completes.
func budget() *expression.Budget {
	return &expression.Budget{Steps: 2 * limitTurnSteps * expression.MaxSteps, Bytes: 2 * limitTurnBytes}
}

// lifetimeLimit returns the limit that a run has reached before this turn, if any.
func (r runner) lifetimeLimit() *limitError {
	switch s := r.State; {
	case s.Turns > limitRunTurns:
		return overLimit(codeRunTurns, "the run took more than %d turns%s", limitRunTurns, repeated(r.recent))
	case !r.World.Run.StartedAt.IsZero() && r.World.Now.Sub(r.World.Run.StartedAt) > maxRunTTL:
		return overLimit(codeRunTTL, "the run is more than 100 days old")
	}
	return nil
}

// stepLimit returns the limit of steps if it is reached.
func (r runner) stepLimit() *limitError {
	if r.State.Steps < limitRunSteps {
		return nil
	}
	return overLimit(codeRunSteps, "the run took more than %d steps%s", limitRunSteps, repeated(r.recent))
}

// TimedOut leaves a node through its timeout output. It ends a run that times out
// too often in a row.
func (t *Turn) TimedOut() (Exit, error) {
	if t.State.Timeouts++; t.State.Timeouts > limitRunTimeouts {
		return Exit{}, overLimit(codeRunTimeouts, "there was no answer %d times in a row%s", t.State.Timeouts, repeated(t.recent))
	}
	return Out("timeout"), nil
}

// say counts a content that is sent.
func (t *Turn) say(content []byte) error {
	h := fnv.New32a()
	_, _ = h.Write(content)
	sum, now := h.Sum32(), t.World.Now.Unix()
	s := t.State
	s.Said = slices.DeleteFunc(s.Said, func(said Said) bool { return now-said.Since >= int64(sameWithin/time.Second) })
	for i := range s.Said {
		if s.Said[i].Sum != sum {
			continue
		}
		if s.Said[i].Count++; s.Said[i].Count > limitRunSame {
			return overLimit(codeRunSame, "the same message was sent more than %d times in five minutes%s", limitRunSame, repeated(t.recent))
		}
		return nil
	}
	if len(s.Said) == keepSaid {
		s.Said = s.Said[1:]
	}
	s.Said = append(s.Said, Said{sum, 1, now})
	return nil
}

// repeated describes the path that the recent nodes repeat, as the end of a
// sentence.
func repeated(recent []string) string {
	for n := 1; n <= len(recent)/2; n++ {
		last, before := recent[len(recent)-n:], recent[len(recent)-2*n:len(recent)-n]
		if slices.Equal(last, before) {
			return ", repeatedly: " + strings.Join(append(rotated(last), rotated(last)[0]), " → ")
		}
	}
	if n := len(recent); n > keepRecent {
		recent = recent[n-keepRecent:]
	}
	if len(recent) == 0 {
		return ""
	}
	return ", finally: " + strings.Join(recent, " → ")
}

// rotated rotates a circle so that it begins with the alphabetically first node.
// The text is then the same wherever the circle was cut.
func rotated(circle []string) []string {
	i := slices.Index(circle, slices.Min(circle))
	return append(slices.Clone(circle[i:]), circle[:i]...)
}
