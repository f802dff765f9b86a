package flow

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

var (
	// ErrNotWaiting is returned for an input that the run does not wait for:
	// another message, a timer that was taken back, a run that ended. Nothing
	// has changed then.
	ErrNotWaiting = errors.New("flow: the run does not wait for this")
	// ErrOtherDocument is returned for a state of another document.
	ErrOtherDocument = errors.New("flow: the state belongs to another document")
)

// Input is what makes a run take a turn: one of the types below.
type Input interface{ kind() string }

type (
	// Begin starts a run. It alone goes with no state.
	Begin struct {
		// Input is what expressions see as start and, until the run is
		// resumed, as input: the caller's object, or the message that the
		// trigger took: {id, type, text, media, reply, location, contacts}.
		Input map[string]any `json:"input,omitempty"`
		Args  map[string]any `json:"args,omitempty"` // of a function that is run by itself
		Vars  map[string]any `json:"vars,omitempty"` // over the defaults of the document
	}
	// Reply is a message of the contact, in the form of [Begin].Input.
	Reply struct {
		Message map[string]any `json:"message"`
	}
	// Timer says that the time of a [SetTimer] has come.
	Timer struct {
		ID string `json:"id"`
	}
	// EffectDone is what came of a [Call]: a result in the form that its kind
	// has, or an error.
	EffectDone struct {
		ID     string `json:"id"`
		Result any    `json:"result,omitempty"`
		Err    *Error `json:"error,omitempty"`
	}
	// Assigned says that a person has taken the chat over.
	Assigned struct{}
	// HandoffClosed says that the person is done.
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
	// Continue goes on after a turn with More.
	Continue struct{}
	// Retry has a run that failed go on with the step that failed.
	Retry struct {
		// Repeat makes a call again that must not be made twice, and may have
		// been. Without it such a run does not go on.
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

// EncodeInput writes an input as an object with its kind, which
// [DecodeInput] reads.
func EncodeInput(in Input) (json.RawMessage, error) {
	raw, err := json.Marshal(map[string]Input{in.kind(): in})
	if err != nil {
		return nil, fmt.Errorf("writing an input: %w", err)
	}
	return raw, nil
}

// DecodeInput reads what [EncodeInput] wrote.
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
