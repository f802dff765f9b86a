package flow

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// World is what a turn sees of the outside. It does not change during the turn.
type World struct {
	Now     time.Time
	Run     RunInfo
	Contact map[string]any // as expressions see it; nil: the run has no chat
	Chat    map[string]any // {id, reference, variables}

	// Refused are effects of this turn that could not be performed when it was
	// first computed, with their errors by id: a closed 24-hour window, a type that
	// the reference does not support. When the turn is computed again, their nodes
	// take their error outputs.
	Refused map[string]*Error

	// Extractor finds entities and intents. nil: nodes that need it fail with the
	// code extract.unavailable.
	Extractor Extractor
}

// RunInfo is the value of run in expressions.
type RunInfo struct {
	ID        string
	StartedAt time.Time
}

// Turn is one turn of a run. [Program.Step] returns it, and nodes use it in their
// steps.
type Turn struct {
	State   *State     // to be stored
	Effects []Effect   // in the order in which they must be performed
	Trace   []TraceRow // the steps taken
	// More reports that the turn reached one of its limits. After the turns of
	// other runs it goes on with [Continue].
	More bool

	environment

	node      *step
	Row       TraceRow
	WaitedFor *Wait // the wait that the input ended
	failure   *failure
	retried   int // number of retries, until a step has recorded it
	recent    []string
	messages  int
	size      int // of all variables; -1: not counted yet
	work      int // bytes of variables that were written and counted
}

// Step takes one turn: it gives the run an input and continues until the run waits
// again, ends, or reaches a limit of the turn. It is a pure function: the same
// arguments yield the same turn, and the given state is not changed. A run starts
// with a nil state and [Begin].
//
// Step returns [ErrNotWaiting] if the run does not wait for the input, and
// [ErrOtherDocument] if the state belongs to another document. An error within the
// flow is not an error of Step: the turn has it.
func (p *Program) Step(s *State, in Input, w World) (*Turn, error) {
	t, err := p.open(s, in, &w)
	if err != nil {
		return nil, err
	}
	r := runner{t}
	if err := r.receive(in); err != nil {
		return nil, err
	}
	r.close()
	return t, nil
}

// open prepares a turn on a copy of the state.
func (p *Program) open(s *State, in Input, w *World) (*Turn, error) {
	t := &Turn{size: -1, Trace: make([]TraceRow, 0, 4), Effects: make([]Effect, 0, 4)}
	t.program, t.World, t.budget = p, w, budget()
	begin, isBegin := in.(Begin)
	switch {
	case in == nil || isBegin != (s == nil):
		return nil, ErrNotWaiting
	case isBegin:
		var err error
		if t.State, err = p.newState(begin); err != nil {
			return nil, err
		}
	case s.Hash != p.hash:
		return nil, ErrOtherDocument
	case !s.accepts(in):
		return nil, ErrNotWaiting
	default:
		t.State = s.clone()
	}
	t.state = t.State
	if !t.link() {
		return nil, ErrOtherDocument
	}
	t.State.Turns++
	t.recent = strings.Fields(t.State.Recent)
	t.rescope()
	return t, nil
}

// newState returns the state of a new run.
func (p *Program) newState(in Begin) (*State, error) {
	start, err := admitInput("input", in.Input)
	if err != nil {
		return nil, err
	}
	s := &State{Hash: p.hash, Start: start, Input: start}
	f := Frame{Vars: p.initial()}
	if f.Args, err = conformAll("args", in.Args, p.args); err != nil {
		return nil, fmt.Errorf("flow: %w", err)
	}
	for name, v := range in.Vars {
		if f.Vars[name], err = conform(v, p.variables[name].Type); err != nil {
			return nil, fmt.Errorf("flow: vars.%s: %w", name, err)
		}
	}
	s.Frames = []Frame{f}
	return s, nil
}

// runner runs a turn: it moves the run from node to node.
type runner struct{ *Turn }

// receive handles the input and continues the run.
func (r runner) receive(in Input) error {
	if e := r.lifetimeLimit(); e != nil {
		e.why.Node = r.standing()
		r.fail(e.why)
		return nil
	}
	switch in := in.(type) {
	case Begin:
		r.run(r.program.start)
		return nil
	case Continue:
		next := r.graph().steps[r.State.Next]
		r.State.Next = ""
		r.run(next)
		return nil
	case Cancel:
		r.cancel(in)
		return nil
	case Retry:
		r.retry()
		return nil
	case Timer:
		if i := r.State.frameOf(in.ID); i >= 0 {
			r.run(r.callTimedOut(i))
			return nil
		}
	}
	return r.resume(in)
}

// standing returns the node at which the run is before its input.
func (r runner) standing() string {
	switch s := r.State; {
	case s.Wait != nil:
		return s.Wait.Node
	case s.Next != "":
		return s.Next
	case s.Failed != nil:
		return s.Failed.Node
	}
	return r.program.start.id
}

// resume passes the input to the node that waits.
func (r runner) resume(in Input) error {
	r.WaitedFor = r.State.Wait
	r.State.Wait = nil
	n := r.graph().steps[r.WaitedFor.Node]
	if err := r.accept(in); err != nil {
		return err
	}
	exit, err := r.perform(n, in)
	if errors.Is(err, ErrNotWaiting) {
		return ErrNotWaiting
	}
	r.dropTimer(in)
	next := r.follow(n, exit, err)
	r.WaitedFor = nil
	r.run(next)
	return nil
}

// accept records an input from outside.
func (r runner) accept(in Input) (err error) {
	switch in := in.(type) {
	case Reply:
		r.State.Input, err = admitInput("message", in.Message)
	case Event:
		r.State.Input, err = admitInput("data", map[string]any{"type": "event", "name": in.Name, "data": ValueOf(in.Data)})
	case Timer:
		if r.WaitedFor.Kind != WaitEffect {
			r.uncatch()
		}
		return nil
	case EffectDone:
		return nil
	}
	r.State.Timeouts = 0
	r.uncatch()
	r.Env["input"] = ValueOf(r.State.Input)
	return err
}

// uncatch allows onError to handle another error. Between two errors the run must
// have waited for a person or for some time; otherwise it could loop forever.
func (r runner) uncatch() {
	for i := range r.State.Frames {
		r.State.Frames[i].Caught = false
	}
}

// run runs steps until the run waits, ends or reaches a limit of the turn.
func (r runner) run(n *step) {
	for n != nil {
		if r.overBudget() {
			r.State.Next, r.More = n.id, true
			return
		}
		if e := r.stepLimit(); e != nil {
			e.why.Node = n.id
			r.failing(n, e.why)
			r.fail(e.why)
			return
		}
		r.State.Steps++
		r.recent = append(r.recent, n.id)
		exit, err := r.perform(n, nil)
		n = r.follow(n, exit, err)
	}
}

// perform runs a node's Step, or its Resume with the input.
func (r runner) perform(n *step, in Input) (exit Exit, err error) {
	r.begin(n)
	defer func() {
		if r := recover(); r != nil {
			err = &Error{Code: "internal", Message: fmt.Sprintf("the node type %s panicked: %v", n.typ, r)}
		}
	}()
	switch config := n.config.(type) {
	case Resumer:
		if in != nil {
			return config.Resume(r.Turn, in)
		}
		if !n.disabled {
			return config.Step(r.Turn)
		}
	case Stepper:
		if !n.disabled {
			return config.Step(r.Turn)
		}
	}
	return Out(n.pass), nil
}

// follow records a step in the trace and returns the next one; nil if the turn is
// over.
func (r runner) follow(n *step, exit Exit, err error) *step {
	if r.State.Ended != nil {
		r.trace()
		return nil
	}
	if err != nil {
		return r.failed(n, err)
	}
	if exit.kind == exitOutput {
		r.Row.Output = exit.output
	}
	r.trace()
	switch exit.kind {
	case exitOutput:
		if next := n.next[exit.output]; next != nil {
			return next
		}
		return r.pathEnd()
	case exitNode:
		return exit.node
	case exitPathEnd:
		return r.pathEnd()
	case exitBreak:
		return r.leaveLoop()
	case exitContinue:
		return r.nextRound()
	case exitReturn:
		return r.returned(exit.output, exit.value)
	}
	return nil // exitWait
}

// close completes the state at the end of the turn.
func (r runner) close() {
	if r.State.Wait != nil {
		r.setCallTimers()
	}
	if n := len(r.recent); n > keepRecent {
		r.recent = r.recent[n-keepRecent:]
	}
	r.State.Recent = strings.Join(r.recent, " ")
}

// begin starts the trace row of a node.
func (r runner) begin(n *step) {
	r.node = n
	r.Row = TraceRow{Node: n.id, Type: n.typ, At: r.World.Now, Path: r.pathNow()}
}

// trace adds the row of the step.
func (r runner) trace() {
	r.State.Rows++
	r.Row.Seq, r.Row.Retry = r.State.Rows, r.retried
	r.retried = 0
	r.mask(&r.Row)
	r.Row.In, r.Row.Out = values.TruncateTrace(r.Row.In), values.TruncateTrace(r.Row.Out)
	r.Trace = append(r.Trace, r.Row)
}

// leave records the output of a call or loop that started earlier, and returns the
// step that follows.
func (r runner) leave(n *step, output string, out map[string]any, e *Error) *step {
	r.begin(n)
	r.Row.Output, r.Row.Out, r.Row.Error = output, out, e
	r.trace()
	return n.next[output]
}
