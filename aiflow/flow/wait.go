package flow

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
	"github.com/trunklinehq/trunkline/internal/apierr"
)

// accepts reports whether the run waits for an input. A node may still refuse it.
func (s *State) accepts(in Input) bool {
	if s.Ended != nil {
		again, is := in.(Retry)
		return is && s.retries(again)
	}
	switch in := in.(type) {
	case Cancel:
		return true
	case Continue:
		return s.Wait == nil && s.Next != ""
	case Timer:
		if s.frameOf(in.ID) >= 0 {
			return true
		}
	}
	return s.Wait != nil && s.Wait.accepts(in)
}

func (w *Wait) accepts(in Input) bool {
	switch in := in.(type) {
	case Timer:
		return in.ID != "" && in.ID == w.Timer
	case Reply:
		return w.Kind == WaitReply || w.Reply
	case Event:
		return w.Kind == WaitEvent && in.Name == w.Event
	case EffectDone:
		return w.Kind == WaitEffect && in.ID != "" && in.ID == w.ID
	case Approval:
		return w.Kind == WaitApproval && in.ID != "" && in.ID == w.ID
	case Assigned, HandoffClosed:
		return w.Kind == WaitHandoff
	}
	return false
}

// nextID returns the id of a new effect, timer or wait.
func (t *Turn) nextID() string {
	t.State.Serial++
	return strconv.Itoa(t.State.Serial)
}

// Wait makes the run wait at the current node, which continues in its Resume.
func (t *Turn) Wait(w Wait) Exit {
	w.Node = t.node.id
	t.State.Wait = &w
	return Exit{kind: exitWait}
}

// Waited returns the wait that the input of this turn ended, for a node's Resume.
func (t *Turn) Waited() Wait { return *t.WaitedFor }

// SetTimer sets a [Timer] and returns its id.
func (t *Turn) SetTimer(at time.Time) string {
	id := t.nextID()
	t.EmitNow(SetTimer{ID: id, At: at})
	return id
}

// SetAlarm is [Turn.SetTimer] for a time of the calendar that the author of the flow, or
// a contact, has chosen. It does not move when a clock is set.
func (t *Turn) SetAlarm(at time.Time) string {
	id := t.nextID()
	t.EmitNow(SetTimer{ID: id, At: at, Fixed: true})
	return id
}

// dropTimer cancels the timer of the wait that ended, unless it has fired or the
// node continues to wait with it.
func (r runner) dropTimer(in Input) {
	id := r.WaitedFor.Timer
	if came, ok := in.(Timer); id == "" || ok && came.ID == id {
		return
	}
	if w := r.State.Wait; w == nil || w.Timer != id {
		r.EmitNow(CancelTimer{ID: id})
	}
}

// setCallTimers sets the timers of calls that wait for the first time. A function
// that never waits needs none.
func (r runner) setCallTimers() {
	for i := range r.State.Frames {
		f := &r.State.Frames[i]
		if f.Timer == "" && !f.Deadline.IsZero() {
			f.Timer = r.SetTimer(f.Deadline)
		}
	}
}

// release cancels the effects that belong to a wait.
func (r runner) release(w *Wait) {
	if w.Timer != "" {
		r.EmitNow(CancelTimer{ID: w.Timer})
	}
	if w.Kind == WaitHandoff {
		r.EmitNow(EndHandoff{ID: w.ID})
	}
}

// end ends the run.
func (t *Turn) end(e Ending) {
	t.popTo(0)
	t.State.Next, t.State.Said = "", nil
	t.State.Ended = &e
}

// End ends the run.
func (t *Turn) End(e Ending) Exit {
	t.end(e)
	return Exit{kind: exitEnded}
}

// fail ends the run with an error.
func (r runner) fail(e *Error) {
	if w := r.State.Wait; w != nil {
		r.State.Wait = nil
		r.release(w)
	}
	r.end(Ending{Status: StatusFailed, Error: hideError(e, r.Secrets())})
	r.keepFailure()
}

// cancel ends the run on request of a user.
func (r runner) cancel(in Cancel) {
	if w := r.State.Wait; w != nil {
		r.State.Wait = nil
		r.release(w)
	}
	e := Ending{Status: StatusCancelled}
	if in.Reason != "" {
		e.Output = in.Reason
	}
	r.end(e)
}

var (
	// ErrNotWaiting is returned for an input that the run does not wait for:
	// another message, a cancelled timer, or an input for a run that has ended. The
	// run is unchanged.
	ErrNotWaiting = apierr.New("flow", apierr.Conflict, "the run does not wait for this event")
	// ErrOtherDocument is returned if the state belongs to another document.
	ErrOtherDocument = apierr.New("flow", apierr.Conflict, "the flow has changed since the simulation started: start it again")
)

// Input is an input that makes a run take a turn: one of the types below.
type Input interface{ kind() string }

type (
	// Begin starts a run. It is the only input for a nil state.
	Begin struct {
		// Input is the value of start in expressions and, until the run is resumed,
		// of input: the caller's object, or the message that the trigger matched:
		// {id, type, text, media, reply, location, contacts}.
		Input map[string]any `json:"input,omitempty"`
		Args  map[string]any `json:"args,omitempty"` // of a function that runs by itself
		Vars  map[string]any `json:"vars,omitempty"` // replace defaults of the document
	}
	// Reply is a message of the contact, in the format of [Begin].Input.
	Reply struct {
		Message map[string]any `json:"message"`
	}
	// Timer reports that a timer of [SetTimer] has fired.
	Timer struct {
		ID string `json:"id"`
	}
	// EffectDone is the outcome of a [Call]: a result whose type depends on the
	// kind of the call, or an error.
	EffectDone struct {
		ID     string `json:"id"`
		Result any    `json:"result,omitempty"`
		Err    *Error `json:"error,omitempty"`
	}
	// Assigned reports that a person has taken the chat.
	Assigned struct{}
	// HandoffClosed reports that the person has closed the conversation.
	HandoffClosed struct{}
	// Event is a named event for nodes that wait for one.
	Event struct {
		Name string         `json:"name"`
		Data map[string]any `json:"data,omitempty"`
	}
	// Approval answers an agent that asked before it used a tool.
	Approval struct {
		ID       string `json:"id"`
		Approved bool   `json:"approved"`
	}
	// Cancel ends a run, whatever it waits for.
	Cancel struct {
		Reason string `json:"reason,omitempty"`
	}
	// Continue continues the run after a turn with More.
	Continue struct{}
	// Retry makes a failed run continue with the step that failed.
	Retry struct {
		// Repeat allows to repeat a call that must not be made twice and may have
		// been made. Without it such a run does not continue.
		Repeat bool `json:"repeat,omitempty"`
	}
)

func (Begin) kind() string         { return "begin" }
func (Reply) kind() string         { return "reply" }
func (Timer) kind() string         { return "timer" }
func (EffectDone) kind() string    { return "effect" }
func (Assigned) kind() string      { return "assigned" }
func (HandoffClosed) kind() string { return "closed" }
func (Event) kind() string         { return "event" }
func (Approval) kind() string      { return "approval" }
func (Cancel) kind() string        { return "cancel" }
func (Continue) kind() string      { return "continue" }
func (Retry) kind() string         { return "retry" }

// EncodeInput encodes an input as an object with its kind as the only member.
// [DecodeInput] decodes it.
func EncodeInput(in Input) (json.RawMessage, error) {
	raw, err := json.Marshal(map[string]Input{in.kind(): in})
	if err != nil {
		return nil, fmt.Errorf("writing an input: %w", err)
	}
	return raw, nil
}

// DecodeInput decodes an input that [EncodeInput] encoded.
func DecodeInput(raw json.RawMessage) (Input, error) {
	var in map[string]json.RawMessage
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, fmt.Errorf("reading an input: %w", err)
	}
	if len(in) != 1 {
		return nil, errors.New("reading an input: it must have one member, its kind")
	}
	for kind, body := range in {
		decode := inputs[kind]
		if decode == nil {
			return nil, fmt.Errorf("reading an input: unknown kind %q", kind)
		}
		return decode(body)
	}
	panic("unreachable")
}

var inputs = map[string]func(json.RawMessage) (Input, error){
	"begin":    inputAs[Begin],
	"reply":    inputAs[Reply],
	"timer":    inputAs[Timer],
	"effect":   inputAs[EffectDone],
	"assigned": inputAs[Assigned],
	"closed":   inputAs[HandoffClosed],
	"event":    inputAs[Event],
	"approval": inputAs[Approval],
	"cancel":   inputAs[Cancel],
	"continue": inputAs[Continue],
	"retry":    inputAs[Retry],
}

func inputAs[T Input](raw json.RawMessage) (Input, error) {
	var in T
	if err := values.Decode(raw, &in); err != nil {
		return nil, fmt.Errorf("reading an input: %w", err)
	}
	return in, nil
}
