package flow

import (
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

// Codes with which those who do effects say what went wrong. After the first
// two groups a call is repeated if its node says so: always when it reached no
// server, else when that is safe.
const (
	CodeHTTPConnect    = "http.connect" // the request reached no server
	CodeHTTPTimeout    = "http.timeout"
	CodeMCPConnect     = "mcp.connect" // the request reached no server
	CodeMCPTimeout     = "mcp.timeout"
	CodeLLMLimited     = "llm.rate_limited" // the request was turned away
	CodeLLMTimeout     = "llm.timeout"
	CodeLLMUnavailable = "llm.unavailable"

	CodeNodeFailed      = "node.failed" // by the function of a node of one's own
	CodeNodeTimeout     = "node.timeout"
	CodeNodeUnavailable = "node.unavailable" // nothing was done

	CodeHTTPBody    = "http.bad_body"
	CodeHTTPAuth    = "http.credential"    // there is none, or it cannot be used
	CodeUnsupported = "effect.unsupported" // the engine does not answer calls of the kind
	CodeUnknown     = "effect.unknown"     // a call that must not be made twice was begun, and its end is not known
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
	if e.Node == "" {
		e.Node = t.node.id
	}
	return e
}

// failed takes a node's error output, or hands its error up.
func (r runner) failed(n *step, err error) *step {
	var limit *limitError
	if errors.As(err, &limit) {
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
		r.pop() // the loop itself failed, not one of its rounds
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

// raise finds who takes an error that the node itself does not: the loops and
// calls around it, the onError of its graph. Otherwise the run fails.
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

// failure is where a run stands while it is asked who takes an error: if none
// does, this is kept.
type failure struct {
	at     Failure
	frames []Frame
}

// failing notes that a step failed, before calls and loops around it are left.
func (r runner) failing(n *step, e *Error) {
	f := &failure{at: Failure{Node: n.id, At: r.World.Now}, frames: r.State.Frames}
	if w := r.WaitedFor; w != nil && w.Kind == WaitEffect && w.Node == n.id {
		f.at.Call, f.at.Tries, f.at.Once = values.TextOf(w.Data), w.Tries, w.Once && !e.undelivered() && !e.Safe()
	}
	r.failure = f
}

// keepFailure lets the run that has failed be retried. Its frames stay as they
// were; their timers are gone.
func (r runner) keepFailure() {
	if r.failure == nil {
		return
	}
	r.State.Failed, r.State.Frames = &r.failure.at, slices.Clone(r.failure.frames)
	for i := range r.State.Frames {
		r.State.Frames[i].Timer = ""
	}
}

// retry continues with the step that failed. Calls around it have as much time
// as they had left.
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

// Limits of a turn: it commits and continues in another.
const (
	limitTurnSteps    = 250
	limitTurnEffects  = 50
	limitTurnMessages = 20
	limitTurnBytes    = 16 << 20 // that its expressions make
	limitTurnWork     = 32 << 20 // bytes of variables that it writes and counts

	stepEffects = 6 // at most, of one node
)

// Limits of a run: it fails, and no error output takes that.
const (
	limitRunSteps    = 100_000
	limitRunTurns    = 1000
	limitRunFrames   = 16
	maxRunTTL        = 100 * 24 * time.Hour
	limitRunTimeouts = 5  // in a row, without input from outside
	limitRunSame     = 20 // messages of one content
	sameWithin       = 5 * time.Minute

	keepSaid   = 64 // contents that are counted at a time
	keepRecent = 12 // nodes that a state remembers
)

// Codes of runs that reached a limit.
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

// overLimit returns the error of a run that reached a limit.
func overLimit(code, format string, args ...any) *limitError {
	return &limitError{&Error{Code: code, Message: fmt.Sprintf(format, args...)}}
}

// overBudget reports whether others should have their turns first.
func (r runner) overBudget() bool {
	return len(r.Trace) >= limitTurnSteps || len(r.Effects) > limitTurnEffects-stepEffects || r.messages >= limitTurnMessages ||
		r.work > limitTurnWork || r.budget.Steps < limitTurnSteps*expression.MaxSteps || r.budget.Bytes < limitTurnBytes
}

// budget is what the expressions of one turn may spend: twice its share, so
// that the node which takes the turn over its share ends well.
func budget() *expression.Budget {
	return &expression.Budget{Steps: 2 * limitTurnSteps * expression.MaxSteps, Bytes: 2 * limitTurnBytes}
}

// lifetimeLimit is the limit that a run reached before this turn, if any.
func (r runner) lifetimeLimit() *limitError {
	switch s := r.State; {
	case s.Turns > limitRunTurns:
		return overLimit(codeRunTurns, "the run took more than %d turns%s", limitRunTurns, repeated(r.recent))
	case !r.World.Run.StartedAt.IsZero() && r.World.Now.Sub(r.World.Run.StartedAt) > maxRunTTL:
		return overLimit(codeRunTTL, "the run is more than 100 days old")
	}
	return nil
}

// stepLimit is the limit of steps, once it is reached.
func (r runner) stepLimit() *limitError {
	if r.State.Steps < limitRunSteps {
		return nil
	}
	return overLimit(codeRunSteps, "the run took more than %d steps%s", limitRunSteps, repeated(r.recent))
}

// TimedOut leaves a node through its timeout output. A run that times out
// again and again ends.
func (t *Turn) TimedOut() (Exit, error) {
	if t.State.Timeouts++; t.State.Timeouts > limitRunTimeouts {
		return Exit{}, overLimit(codeRunTimeouts, "nobody answered %d times in a row%s", t.State.Timeouts, repeated(t.recent))
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

// repeated names the path that the nodes entered last went round and round,
// as the end of a sentence.
func repeated(recent []string) string {
	for n := 1; n <= len(recent)/2; n++ {
		last, before := recent[len(recent)-n:], recent[len(recent)-2*n:len(recent)-n]
		if slices.Equal(last, before) {
			return ", again and again: " + strings.Join(append(rotated(last), rotated(last)[0]), " → ")
		}
	}
	if n := len(recent); n > keepRecent {
		recent = recent[n-keepRecent:]
	}
	if len(recent) == 0 {
		return ""
	}
	return ", at last: " + strings.Join(recent, " → ")
}

// rotated begins a circle with its first node by name, so that it reads the
// same wherever it was cut.
func rotated(circle []string) []string {
	i := slices.Index(circle, slices.Min(circle))
	return append(slices.Clone(circle[i:]), circle[:i]...)
}
