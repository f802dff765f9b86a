package flow

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// World is what a turn sees of the outside. It is frozen: all nodes of the
// turn see the same.
type World struct {
	Now     time.Time
	Run     RunInfo
	Contact map[string]any // as expressions see it; nil: the run has no chat
	Chat    map[string]any // {id, reference, variables}

	// Refused are effects of this very turn that could not be done when it
	// was first computed, by their id: a window that is closed, a type that
	// the line lacks. Computed again, the turn takes the error outputs of
	// their nodes.
	Refused map[string]*Error

	// Extractor finds entities and intents. Without one, nodes that need it
	// end with the code extract.unavailable.
	Extractor Extractor
}

// RunInfo is what expressions see as run.
type RunInfo struct {
	ID        string
	StartedAt time.Time
}

// Turn is one turn of a run: what [Program.Step] returns, and what a node
// works with while it takes its step.
type Turn struct {
	State   *State     // to be stored
	Effects []Effect   // in the order in which they are to be done
	Trace   []TraceRow // the steps taken
	// More says that the turn reached one of its limits. Others should have
	// their turns first; then it goes on with [Continue].
	More bool

	program   *Program // of the run
	World     *World
	budget    *expression.Budget
	Env       map[string]any // what expressions see
	graphs    []*Program     // of each frame
	base      int            // the frame that holds the variables in sight
	path      []string       // of the frames; nil: not yet written
	node      *step
	Row       TraceRow
	WaitedFor *Wait // what the input ended
	failure   *failure
	retried   int // how often, until a step has said so
	recent    []string
	hidden    []string // the secrets of frames that have ended
	messages  int
	size      int // of all variables; -1: not yet counted
	work      int // bytes of variables that were written and counted
}

// Step takes one turn: it gives the run what it waits for and goes on until
// the run waits again, ends, or has had its share. It has no effects of its
// own and depends on nothing but its arguments: the same arguments give the
// same turn. The state is not changed; the turn has the new one. A run begins
// with no state and [Begin].
//
// It returns [ErrNotWaiting] when the input does not fit, and
// [ErrOtherDocument] when the state does not. What goes wrong inside the flow
// is no error: it is in the turn.
func (p *Program) Step(s *State, in Input, w World) (*Turn, error) {
	t, err := p.open(s, in, &w)
	if err != nil {
		return nil, err
	}
	if err := t.receive(in); err != nil {
		return nil, err
	}
	t.close()
	return t, nil
}

// open prepares a turn on a copy of the state.
func (p *Program) open(s *State, in Input, w *World) (*Turn, error) {
	t := &Turn{program: p, World: w, budget: budget(), size: -1, Trace: make([]TraceRow, 0, 4), Effects: make([]Effect, 0, 4)}
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
	if !t.link() {
		return nil, ErrOtherDocument
	}
	t.State.Turns++
	t.recent = strings.Fields(t.State.Recent)
	t.rescope()
	return t, nil
}

// newState makes the state of a new run.
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
		if f.Vars[name], err = Conform(v, p.variables[name].Type); err != nil {
			return nil, fmt.Errorf("flow: vars.%s: %w", name, err)
		}
	}
	s.Frames = []Frame{f}
	return s, nil
}

// receive gives the run its input and runs on.
func (t *Turn) receive(in Input) error {
	if e := t.lifetimeLimit(); e != nil {
		e.why.Node = t.standing()
		t.fail(e.why)
		return nil
	}
	switch in := in.(type) {
	case Begin:
		t.run(t.program.start)
		return nil
	case Continue:
		next := t.graph().steps[t.State.Next]
		t.State.Next = ""
		t.run(next)
		return nil
	case Cancel:
		t.cancel(in)
		return nil
	case Retry:
		t.retry()
		return nil
	case Timer:
		if i := t.State.frameOf(in.ID); i >= 0 {
			t.run(t.callTimedOut(i))
			return nil
		}
	}
	return t.resume(in)
}

// standing is the node at which the run stands before it takes its input.
func (t *Turn) standing() string {
	switch s := t.State; {
	case s.Wait != nil:
		return s.Wait.Node
	case s.Next != "":
		return s.Next
	case s.Failed != nil:
		return s.Failed.Node
	}
	return t.program.start.id
}

// resume gives a waiting node what it waited for.
func (t *Turn) resume(in Input) error {
	t.WaitedFor = t.State.Wait
	t.State.Wait = nil
	n := t.graph().steps[t.WaitedFor.Node]
	if err := t.accept(in); err != nil {
		return err
	}
	exit, err := t.perform(n, in)
	if errors.Is(err, ErrNotWaiting) {
		return ErrNotWaiting
	}
	t.dropTimer(in)
	next := t.follow(n, exit, err)
	t.WaitedFor = nil
	t.run(next)
	return nil
}

// accept notes what came from outside.
func (t *Turn) accept(in Input) (err error) {
	switch in := in.(type) {
	case Reply:
		t.State.Input, err = admitInput("message", in.Message)
	case Event:
		t.State.Input, err = admitInput("data", map[string]any{"type": "event", "name": in.Name, "data": ValueOf(in.Data)})
	case Timer:
		if t.WaitedFor.Kind != WaitEffect {
			t.uncatch()
		}
		return nil
	case EffectDone:
		return nil
	}
	t.State.Timeouts = 0
	t.uncatch()
	t.Env["input"] = ValueOf(t.State.Input)
	return err
}

// uncatch lets onError take errors again. Between two of them the run must
// have waited for somebody, or for some time: else it would go round in
// circles.
func (t *Turn) uncatch() {
	for i := range t.State.Frames {
		t.State.Frames[i].Caught = false
	}
}

// run takes steps until the run waits, ends or has had its share.
func (t *Turn) run(n *step) {
	for n != nil {
		if t.overBudget() {
			t.State.Next, t.More = n.id, true
			return
		}
		if e := t.stepLimit(); e != nil {
			e.why.Node = n.id
			t.failing(n, e.why)
			t.fail(e.why)
			return
		}
		t.State.Steps++
		t.recent = append(t.recent, n.id)
		exit, err := t.perform(n, nil)
		n = t.follow(n, exit, err)
	}
}

// perform lets a node take its step, or go on with what it waited for.
func (t *Turn) perform(n *step, in Input) (exit Exit, err error) {
	t.begin(n)
	defer func() {
		if r := recover(); r != nil {
			err = &Error{Code: "internal", Message: fmt.Sprintf("the node type %s panicked: %v", n.typ, r)}
		}
	}()
	switch config := n.config.(type) {
	case Resumer:
		if in != nil {
			return config.Resume(t, in)
		}
		if !n.disabled {
			return config.Step(t)
		}
	case Stepper:
		if !n.disabled {
			return config.Step(t)
		}
	}
	return Out(n.pass), nil
}

// follow writes the trace of a step and says where the run goes on; nil when
// the turn is over.
func (t *Turn) follow(n *step, exit Exit, err error) *step {
	if t.State.Ended != nil {
		t.trace()
		return nil
	}
	if err != nil {
		return t.failed(n, err)
	}
	if exit.kind == exitOutput {
		t.Row.Output = exit.output
	}
	t.trace()
	switch exit.kind {
	case exitOutput:
		if next := n.next[exit.output]; next != nil {
			return next
		}
		return t.pathEnd()
	case exitNode:
		return exit.node
	case exitPathEnd:
		return t.pathEnd()
	case exitBreak:
		return t.leaveLoop()
	case exitContinue:
		return t.nextRound()
	case exitReturn:
		return t.returned(exit.output, exit.value)
	}
	return nil // exitWait
}

// close finishes the turn's books.
func (t *Turn) close() {
	if t.State.Wait != nil {
		t.setCallTimers()
	}
	if n := len(t.recent); n > keepRecent {
		t.recent = t.recent[n-keepRecent:]
	}
	t.State.Recent = strings.Join(t.recent, " ")
}

// begin begins the trace row of a node.
func (t *Turn) begin(n *step) {
	t.node = n
	t.Row = TraceRow{Node: n.id, Type: n.typ, At: t.World.Now, Path: t.pathNow()}
}

// trace writes the row of the step that was taken.
func (t *Turn) trace() {
	t.State.Rows++
	t.Row.Seq, t.Row.Retry = t.State.Rows, t.retried
	t.retried = 0
	t.mask(&t.Row)
	t.Row.In, t.Row.Out = values.TruncateTrace(t.Row.In), values.TruncateTrace(t.Row.Out)
	t.Trace = append(t.Trace, t.Row)
}

// leave writes that a call or loop, begun earlier, is left by an output, and
// says where that leads.
func (t *Turn) leave(n *step, output string, out map[string]any, e *Error) *step {
	t.begin(n)
	t.Row.Output, t.Row.Out, t.Row.Error = output, out, e
	t.trace()
	return n.next[output]
}
