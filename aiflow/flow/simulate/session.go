package simulate

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
	"github.com/trunklinehq/trunkline/internal/apierr"
)

// Given is the world of a simulation.
type Given struct {
	Now     time.Time      `json:"now,omitzero"`      // when it begins; zero: at [Begin]
	Contact map[string]any `json:"contact,omitempty"` // as expressions see it
	Chat    map[string]any `json:"chat,omitempty"`
	Input   map[string]any `json:"input,omitempty"` // what expressions see as start; nil: {}
	Args    map[string]any `json:"args,omitempty"`  // of a function
	Vars    map[string]any `json:"vars,omitempty"`  // over the defaults of the document
	Mocks   []Mock         `json:"mocks,omitempty"`
	Refuse  []Refusal      `json:"refuse,omitempty"`
}

// Begin is when simulations begin that do not say when: a Monday.
var Begin = time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)

// Mock answers calls to the world. The first that fits answers.
type Mock struct {
	Node   string        `json:"node,omitempty"`   // "": of any
	Kind   flow.CallKind `json:"kind,omitempty"`   // "": of any
	Times  int           `json:"times,omitempty"`  // how many calls it answers; 0: all
	Result any           `json:"result,omitempty"` // in the form that the kind has; of a node of one's own {output, value}
	Error  *flow.Error   `json:"error,omitempty"`  // instead
}

// Refusal has what a node sends refused.
type Refusal struct {
	Node  string     `json:"node"`
	Error flow.Error `json:"error"`
}

// codeNoMock is the code of a call that no [Mock] answers.
const codeNoMock = "simulate.no_mock"

// Session is a simulated run.
type Session struct {
	Given  Given           `json:"given"`
	Now    time.Time       `json:"now"`
	State  *flow.State     `json:"state"`
	Timers []flow.SetTimer `json:"timers"`
	Used   []int           `json:"used"` // how many calls each mock has answered

	past *journal // answers calls in place of the mocks; nil: of a simulation
}

// The kinds of what a flow does.
const (
	DidSend       = "send"
	DidCall       = "call"
	DidContact    = "contact"
	DidEvent      = "event"
	DidHandoff    = "handoff"
	DidEndHandoff = "endHandoff"
	DidAsk        = "ask"
	DidJump       = "jump"
)

// Did is something that a flow did to the world.
type Did struct {
	Kind   string      `json:"kind"`
	Node   string      `json:"node,omitempty"`
	At     time.Time   `json:"at"`
	Effect flow.Effect `json:"effect"`
}

// Result is what came of an action.
type Result struct {
	Did   []Did           `json:"did"`
	Trace []flow.TraceRow `json:"trace"`
}

// ErrEndless reports a flow that never ends and never waits.
var ErrEndless = apierr.New("simulate", apierr.Conflict, "the flow never waits: give its cycle an exit, or a node that waits")

// What may follow from one action.
const (
	maxTurns = 500
	maxDone  = 500 // as each may be a text of 64 KiB
)

// Start begins a run. Input, Args and Vars that the document does not take are
// an error.
func Start(p *flow.Program, g Given) (*Session, Result, error) {
	if g.Now.IsZero() {
		g.Now = Begin
	}
	s := &Session{Given: g, Now: g.Now, Timers: []flow.SetTimer{}, Used: make([]int, len(g.Mocks))}
	r, err := s.execute(p, flow.Begin{Input: g.Input, Args: g.Args, Vars: g.Vars})
	return s, r, err
}

// Give gives the run an input. It returns [flow.ErrNotWaiting] when the run
// does not wait for it.
func (s *Session) Give(p *flow.Program, in flow.Input) (Result, error) {
	if s.State == nil {
		return Result{}, flow.ErrNotWaiting
	}
	return s.execute(p, in)
}

// Happen has the first member of a step that says so happen. A duration that is
// none is an [*Invalid].
func (s *Session) Happen(p *flow.Program, what Step) (Result, error) {
	switch {
	case what.Send != nil:
		return s.Give(p, flow.Reply{Message: *what.Send})
	case what.Advance != "":
		d, err := values.ParseDuration(what.Advance)
		if err != nil {
			return Result{}, &Invalid{Path: ".advance", Message: notADuration}
		}
		return s.Advance(p, d)
	case what.Event != nil:
		return s.Give(p, *what.Event)
	case what.Handoff == "assigned":
		return s.Give(p, flow.Assigned{})
	case what.Handoff == "closed":
		return s.Give(p, flow.HandoffClosed{})
	case what.Approve != nil && s.State != nil && s.State.Wait != nil:
		return s.Give(p, flow.Approval{ID: s.State.Wait.ID, Approved: *what.Approve})
	case what.Cancel:
		return s.Give(p, flow.Cancel{})
	}
	return Result{}, &Invalid{Path: "", Message: "must have one event"}
}

// Advance lets time pass: the timers that are due by then come in order.
func (s *Session) Advance(p *flow.Program, d time.Duration) (Result, error) {
	out := empty()
	until := s.Now.Add(d)
	for {
		next := s.due(until)
		if next < 0 {
			s.Now = until
			return out, nil
		}
		t := s.Timers[next]
		s.Timers = slices.Delete(s.Timers, next, next+1)
		if t.At.After(s.Now) {
			s.Now = t.At
		}
		r, err := s.execute(p, flow.Timer{ID: t.ID})
		if err != nil && !errors.Is(err, flow.ErrNotWaiting) {
			return out, err
		}
		out.add(r)
		if len(out.Trace) > maxTrace || len(out.Did) > maxDone {
			return out, ErrEndless
		}
	}
}

// maxTrace bounds what passes while time does, and in all of [Run].
const maxTrace = 10_000

// due is the first timer that is due by a time; -1: there is none.
func (s *Session) due(until time.Time) int {
	best := -1
	for i, t := range s.Timers {
		if !t.At.After(until) && (best < 0 || t.At.Before(s.Timers[best].At)) {
			best = i
		}
	}
	return best
}

func empty() Result { return Result{Did: []Did{}, Trace: []flow.TraceRow{}} }

func (r *Result) add(o Result) {
	r.Did, r.Trace = append(r.Did, o.Did...), append(r.Trace, o.Trace...)
}

// execute gives the run an input, and whatever follows from that at once.
func (s *Session) execute(p *flow.Program, in flow.Input) (Result, error) {
	out := empty()
	queue := []flow.Input{in}
	for n := 0; len(queue) > 0; n++ {
		if n == maxTurns {
			return out, ErrEndless
		}
		turn, err := s.turn(p, queue[0])
		if err != nil && (n == 0 || !errors.Is(err, flow.ErrNotWaiting)) {
			return out, err
		}
		queue = queue[1:]
		if err != nil {
			continue
		}
		out.Trace = append(out.Trace, turn.Trace...)
		for _, e := range turn.Effects {
			if answer := s.effect(e, &out); answer != nil {
				queue = append(queue, answer)
			}
		}
		if len(out.Did) > maxDone {
			return out, ErrEndless
		}
		if s.past != nil && s.past.tooLong(turn) {
			return out, ErrLong
		}
		if turn.More {
			queue = append([]flow.Input{flow.Continue{}}, queue...)
		}
	}
	return out, nil
}

// turn computes one turn. What is refused is told to it, as everywhere.
func (s *Session) turn(p *flow.Program, in flow.Input) (*flow.Turn, error) {
	run := flow.RunInfo{ID: "simulation", StartedAt: s.Given.Now}
	if s.past != nil {
		run = s.past.run
	}
	w := flow.World{
		Now: s.Now, Run: run, Contact: s.Given.Contact, Chat: s.Given.Chat,
		Refused: map[string]*flow.Error{},
	}
	for {
		turn, err := s.step(p, in, w)
		if err != nil {
			return nil, err
		}
		id, why := s.refused(turn.Effects, w.Refused)
		if why == nil {
			if s.State, err = reread(turn.State); err != nil {
				return nil, err
			}
			return turn, nil
		}
		w.Refused[id] = why
	}
}

// step computes a turn of a state that may be anybody's.
func (s *Session) step(p *flow.Program, in flow.Input, w flow.World) (turn *flow.Turn, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%w: %v", ErrState, v)
		}
	}()
	return p.Step(s.State, in, w)
}

// ErrState reports a session that was changed, so that nothing can follow.
var ErrState error = &apierr.Invalid{Field: "state", Message: "must be the unchanged state of an earlier response"}

// refused finds an effect that is refused and of which the turn does not know
// that yet.
func (s *Session) refused(effects []flow.Effect, known map[string]*flow.Error) (string, *flow.Error) {
	for _, e := range effects {
		send, is := e.(flow.Send)
		if !is || known[send.ID] != nil {
			continue
		}
		for _, r := range s.Given.Refuse {
			if r.Node == send.Node {
				return send.ID, &r.Error
			}
		}
	}
	return "", nil
}

// reread is a state as it comes back from its JSON, which is what continues
// elsewhere.
func reread(s *flow.State) (*flow.State, error) {
	raw, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("simulate: writing the state: %w", err)
	}
	out := &flow.State{}
	if err := json.Unmarshal(raw, out); err != nil {
		return nil, fmt.Errorf("simulate: reading the state: %w", err)
	}
	return out, nil
}

// effect does an effect, and returns the answer of a call.
func (s *Session) effect(e flow.Effect, out *Result) flow.Input {
	did := func(kind, node string) {
		out.Did = append(out.Did, Did{Kind: kind, Node: node, At: s.Now, Effect: e})
	}
	switch e := e.(type) {
	case flow.SetTimer:
		s.cancel(e.ID)
		s.Timers = append(s.Timers, e)
	case flow.CancelTimer:
		s.cancel(e.ID)
	case flow.Send:
		did(DidSend, e.Node)
	case flow.Call:
		did(DidCall, e.Node)
		return s.answer(e)
	case flow.ContactChange:
		did(DidContact, e.Node)
		s.change(e)
	case flow.DataEvent:
		did(DidEvent, e.Node)
	case flow.Handoff:
		did(DidHandoff, e.Node)
	case flow.EndHandoff:
		did(DidEndHandoff, "")
	case flow.Ask:
		did(DidAsk, e.Node)
	case flow.Jump:
		did(DidJump, "")
	}
	return nil
}

func (s *Session) cancel(timer string) {
	s.Timers = slices.DeleteFunc(s.Timers, func(t flow.SetTimer) bool { return t.ID == timer })
}

// answer is what the mocks say to a call.
func (s *Session) answer(c flow.Call) flow.Input {
	if s.past != nil {
		return s.past.answer(c)
	}
	for i, m := range s.Given.Mocks {
		if m.Node != "" && m.Node != c.Node || m.Kind != "" && m.Kind != c.Kind || i >= len(s.Used) || m.Times > 0 && s.Used[i] >= m.Times {
			continue
		}
		s.Used[i]++
		return flow.EffectDone{ID: c.ID, Result: m.Result, Err: m.Error}
	}
	return flow.EffectDone{ID: c.ID, Err: &flow.Error{Code: codeNoMock, Message: "No mock answers this call. Add one to given.mocks.", Node: c.Node, Attempt: c.Attempt}}
}

// change changes the contact as later turns see it.
func (s *Session) change(e flow.ContactChange) {
	c := maps.Clone(s.Given.Contact)
	if c == nil {
		c = map[string]any{}
	}
	if len(e.AddTags)+len(e.RemoveTags) > 0 {
		tags, _ := c["tags"].([]any)
		tags = slices.DeleteFunc(slices.Clone(tags), func(t any) bool {
			name, _ := t.(string)
			return slices.Contains(e.RemoveTags, name) || slices.Contains(e.AddTags, name)
		})
		for _, t := range e.AddTags {
			tags = append(tags, t)
		}
		c["tags"] = tags
	}
	if len(e.Fields) > 0 {
		old, _ := c["fields"].(map[string]any)
		fields := maps.Clone(old)
		if fields == nil {
			fields = map[string]any{}
		}
		for name, v := range e.Fields {
			if v == nil {
				delete(fields, name)
			} else {
				fields[name] = v
			}
		}
		c["fields"] = fields
	}
	if e.Language != nil {
		c["language"] = *e.Language
	}
	if e.OptedOut != nil {
		c["optedOut"] = *e.OptedOut
	}
	s.Given.Contact = c
}
