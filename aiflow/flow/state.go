package flow

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
	"github.com/trunklinehq/trunkline/internal/jsonscan"
)

// State is a run between two turns: all that the next turn needs besides the
// document and the [World]. It is a value: [Program.Step] never changes its
// argument. Encoding a state as JSON and decoding it loses nothing.
type State struct {
	Hash  string `json:"hash"`  // of the document with which the run was started
	Turns int    `json:"turns"` // taken so far
	Steps int    `json:"steps"` // nodes entered so far
	Rows  int    `json:"rows"`  // rows of the trace

	// Serial is the last number given to an effect, a timer or a wait. Their ids
	// are unique in the run, and the same when a turn is computed again.
	Serial int `json:"serial"`

	Start  map[string]any `json:"start,omitempty"` // input that started the run
	Input  map[string]any `json:"input,omitempty"` // input that last resumed it
	Frames []Frame        `json:"frames,omitempty"`

	// Next is the node with which [Continue] continues after a turn that reached
	// one of its limits.
	Next  string  `json:"next,omitempty"`
	Wait  *Wait   `json:"wait,omitempty"`
	Ended *Ending `json:"ended,omitempty"`
	// Failed is the step that failed the run, whose frames are kept as they were.
	// It is nil for a run that cannot be retried.
	Failed  *Failure `json:"failed,omitempty"`
	Retries int      `json:"retries,omitempty"` // of the run so far

	Timeouts int    `json:"timeouts,omitempty"` // consecutive, without input from outside
	Said     []Said `json:"said,omitempty"`     // what was sent in the last five minutes
	Recent   string `json:"recent,omitempty"`   // ids of the nodes entered last, to describe a path that repeats
}

// Frame is one level of a run: the flow itself, a called function, or a loop. The
// first frame is the flow.
type Frame struct {
	Node     string         `json:"node,omitempty"`     // the call or loop node in the frame below; "" for the flow
	Function string         `json:"function,omitempty"` // the slug of a called function
	Vars     map[string]any `json:"vars,omitempty"`
	Args     map[string]any `json:"args,omitempty"`
	Error    *Error         `json:"error,omitempty"`   // the error of the current error path
	Deadline time.Time      `json:"deadline,omitzero"` // of a call
	Timer    string         `json:"timer,omitempty"`   // of the deadline; "" until the call waits
	Caught   bool           `json:"caught,omitempty"`  // the flow's onError is already handling an error
	Loop     *Loop          `json:"loop,omitempty"`    // set for a loop, which has neither Vars nor Args
}

// Loop is the progress of a loop.
type Loop struct {
	Index int   `json:"i"`
	Count int   `json:"n"` // total rounds; -1: unknown
	Items []any `json:"items,omitempty"`
	// Failed reports that the round ended with an error that the loop ignores.
	Failed bool `json:"failed,omitempty"`
}

// Said counts messages with the same content.
type Said struct {
	Sum   uint32 `json:"s"`
	Count int    `json:"n"`
	Since int64  `json:"t"` // Unix seconds of the first message
}

// WaitKind is the kind of input for which a run waits.
type WaitKind string

// The kinds of waits.
const (
	WaitReply    WaitKind = "reply"    // a message of the contact: [Reply]
	WaitTimer    WaitKind = "timer"    // time: [Timer]
	WaitEvent    WaitKind = "event"    // [Event]
	WaitHandoff  WaitKind = "handoff"  // a person: [Assigned], [HandoffClosed]
	WaitEffect   WaitKind = "effect"   // the result of a [Call]: [EffectDone]
	WaitApproval WaitKind = "approval" // a person's decision: [Approval]
)

// Wait is the state of a run between two turns.
type Wait struct {
	Kind  WaitKind  `json:"kind"`
	Node  string    `json:"node"`
	ID    string    `json:"id,omitempty"`    // id that the input must name: that of the effect or the approval
	Timer string    `json:"timer,omitempty"` // its id; "" means without end
	Until time.Time `json:"until,omitzero"`  // when Timer is due
	Event string    `json:"event,omitempty"` // the name, for [WaitEvent]
	Reply bool      `json:"reply,omitempty"` // a [Reply] also ends the wait
	Data  any       `json:"data,omitempty"`  // the node's own data, as JSON
	Tries int       `json:"tries,omitempty"` // invalid answers, or attempts
	Once  bool      `json:"once,omitempty"`  // a [Call] that must not be made twice
	Parts []string  `json:"parts,omitempty"` // parts of an answer so far
}

// Ending describes how a run ended.
type Ending struct {
	Status Status `json:"status"`
	Output any    `json:"output,omitempty"`
	Error  *Error `json:"error,omitempty"` // of a failed run
	Jump   *Jump  `json:"jump,omitempty"`  // the flow that follows
}

// Status is the final status of a run.
type Status string

// The final statuses of a run.
const (
	StatusCompleted Status = "completed"
	StatusCancelled Status = "cancelled"
	StatusFailed    Status = "failed"
)

// UnmarshalJSON decodes a state exactly: whole numbers stay integers, with up to 64
// bits.
func (s *State) UnmarshalJSON(raw []byte) error {
	var r stateReader
	*s = State{}
	if jsonscan.Kind(raw) != '{' {
		r.fail(errors.New("it is no object"))
	}
	for name, v := range jsonscan.Members(raw) {
		if jsonscan.Kind(v) == 'n' {
			continue
		}
		r.state(s, string(name), v)
	}
	if r.err != nil {
		return fmt.Errorf("reading the state of a run: %w", r.err)
	}
	return nil
}

// stateReader decodes parts of a state and keeps the first error.
type stateReader struct{ err error }

func (r *stateReader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *stateReader) state(s *State, name string, v []byte) {
	switch name {
	case "hash":
		s.Hash = r.text(v)
	case "turns":
		s.Turns = r.int(v)
	case "steps":
		s.Steps = r.int(v)
	case "rows":
		s.Rows = r.int(v)
	case "serial":
		s.Serial = r.int(v)
	case "start":
		s.Start = r.object(v)
	case "input":
		s.Input = r.object(v)
	case "frames":
		for item := range jsonscan.Elements(v) {
			s.Frames = append(s.Frames, r.frame(item))
		}
	case "next":
		s.Next = r.text(v)
	case "wait":
		s.Wait = r.wait(v)
	case "ended":
		s.Ended = &Ending{}
		r.other(v, s.Ended)
		s.Ended.normalize()
	case "failed":
		s.Failed = &Failure{}
		r.other(v, s.Failed)
	case "retries":
		s.Retries = r.int(v)
	case "timeouts":
		s.Timeouts = r.int(v)
	case "said":
		for item := range jsonscan.Elements(v) {
			s.Said = append(s.Said, r.said(item))
		}
	case "recent":
		s.Recent = r.text(v)
	}
}

func (r *stateReader) frame(raw []byte) (f Frame) {
	for name, v := range jsonscan.Members(raw) {
		switch string(name) {
		case "node":
			f.Node = r.text(v)
		case "function":
			f.Function = r.text(v)
		case "vars":
			f.Vars = r.object(v)
		case "args":
			f.Args = r.object(v)
		case "error":
			f.Error = &Error{}
			r.other(v, f.Error)
			f.Error.normalize()
		case "deadline":
			f.Deadline = r.time(v)
		case "timer":
			f.Timer = r.text(v)
		case "caught":
			f.Caught = jsonscan.Kind(v) == 't'
		case "loop":
			f.Loop = r.loop(v)
		}
	}
	return f
}

func (r *stateReader) loop(raw []byte) *Loop {
	l := &Loop{}
	for name, v := range jsonscan.Members(raw) {
		switch string(name) {
		case "i":
			l.Index = r.int(v)
		case "n":
			l.Count = r.int(v)
		case "items":
			l.Items, _ = r.value(v).([]any)
		case "failed":
			l.Failed = jsonscan.Kind(v) == 't'
		}
	}
	return l
}

func (r *stateReader) wait(raw []byte) *Wait {
	w := &Wait{}
	for name, v := range jsonscan.Members(raw) {
		switch string(name) {
		case "kind":
			w.Kind = WaitKind(r.text(v))
		case "node":
			w.Node = r.text(v)
		case "id":
			w.ID = r.text(v)
		case "timer":
			w.Timer = r.text(v)
		case "until":
			w.Until = r.time(v)
		case "event":
			w.Event = r.text(v)
		case "reply":
			w.Reply = jsonscan.Kind(v) == 't'
		case "data":
			w.Data = r.value(v)
		case "tries":
			w.Tries = r.int(v)
		case "once":
			w.Once = jsonscan.Kind(v) == 't'
		case "parts":
			for part := range jsonscan.Elements(v) {
				w.Parts = append(w.Parts, r.text(part))
			}
		}
	}
	return w
}

func (r *stateReader) said(raw []byte) (s Said) {
	for name, v := range jsonscan.Members(raw) {
		switch string(name) {
		case "s":
			s.Sum = uint32(r.int(v))
		case "n":
			s.Count = r.int(v)
		case "t":
			s.Since = int64(r.int(v))
		}
	}
	return s
}

func (r *stateReader) int(v []byte) int {
	n, err := strconv.Atoi(string(v))
	if err != nil {
		r.fail(err)
	}
	return n
}

func (r *stateReader) text(v []byte) string {
	s, ok := r.value(v).(string)
	if !ok {
		r.fail(errors.New("a member is no text"))
	}
	return s
}

func (r *stateReader) time(v []byte) time.Time {
	t, err := time.Parse(time.RFC3339Nano, r.text(v))
	if err != nil {
		r.fail(err)
	}
	return t
}

func (r *stateReader) object(v []byte) map[string]any {
	m, ok := r.value(v).(map[string]any)
	if !ok {
		r.fail(errors.New("a member is no object"))
	}
	return m
}

func (r *stateReader) value(v []byte) any {
	out, rest, err := values.Read(v, 1)
	if err == nil && len(rest) > 0 {
		err = values.ErrNotJSON
	}
	if err != nil {
		r.fail(err)
	}
	return out
}

// other decodes rare members by reflection.
func (r *stateReader) other(raw []byte, v any) {
	if err := values.Decode(raw, v); err != nil {
		r.fail(err)
	}
}

func (e *Ending) normalize() {
	e.Output = normalized(e.Output)
	e.Error.normalize()
	if e.Jump != nil {
		normalized(e.Jump.Input)
	}
}

func (e *Error) normalize() {
	if e != nil {
		normalized(e.Detail)
	}
}

// normalized converts numbers that were decoded as texts. It changes lists and
// objects in place.
func normalized(v any) any {
	switch v := v.(type) {
	case json.Number:
		n, _ := values.AdmitNumber(v) // no state has a number that is too large
		return n
	case []any:
		for i, item := range v {
			v[i] = normalized(item)
		}
	case map[string]any:
		for name, item := range v {
			v[name] = normalized(item)
		}
	}
	return v
}
