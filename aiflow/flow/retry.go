package flow

import (
	"slices"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

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
	f := &failure{at: Failure{Node: n.Id, At: t.World.Now}, frames: t.State.Frames}
	if w := t.WaitedFor; w != nil && w.Kind == WaitEffect && w.Node == n.Id {
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
	n := t.Graph().Steps[f.Node]
	if f.Call != "" {
		t.WaitedFor = &Wait{Kind: WaitEffect, Node: f.Node, Tries: f.Tries, Data: f.Call}
	}
	t.State.Steps++
	t.Recent = append(t.Recent, n.Id)
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
