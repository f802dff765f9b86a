package flow

import "time"

// State is a run between two turns: all that the next turn needs beside the
// document and the [World]. It is a value: [Program.Step] never changes the
// one it is given. Its JSON is exact: what is written and read back goes on
// as if it had stayed in memory.
type State struct {
	Hash  string `json:"hash"`  // of the document that it was begun with
	Turns int    `json:"turns"` // taken so far
	Steps int    `json:"steps"` // nodes entered so far
	Rows  int    `json:"rows"`  // of the trace, in all

	// Serial is the last number given to an effect, a timer or a wait. The ids
	// of these are unique in their run, and the same when a turn is computed
	// again.
	Serial int `json:"serial"`

	Start  map[string]any `json:"start,omitempty"` // what began the run
	Input  map[string]any `json:"input,omitempty"` // what last resumed it
	Frames []Frame        `json:"frames,omitempty"`

	// Next is the node with which [Continue] goes on, after a turn that
	// reached one of its limits.
	Next  string  `json:"next,omitempty"`
	Wait  *Wait   `json:"wait,omitempty"`
	Ended *Ending `json:"ended,omitempty"`
	// Failed is the step that failed the run, whose frames are then as they
	// were; nil for one that nothing can go on.
	Failed  *Failure `json:"failed,omitempty"`
	Retries int      `json:"retries,omitempty"` // of the run, so far

	Timeouts int    `json:"timeouts,omitempty"` // in a row, without input from outside
	Said     []Said `json:"said,omitempty"`     // what was sent in the last five minutes
	Recent   string `json:"recent,omitempty"`   // the ids of the nodes entered last, to name a path that repeats
}

// Frame is one level of a run: the flow itself, a function that was called,
// or a loop. The flow is the first.
type Frame struct {
	Node     string         `json:"node,omitempty"`     // the call or loop node in the frame below; none for the flow
	Function string         `json:"function,omitempty"` // the slug of a called function
	Vars     map[string]any `json:"vars,omitempty"`
	Args     map[string]any `json:"args,omitempty"`
	Error    *Error         `json:"error,omitempty"`   // what an error path took last
	Deadline time.Time      `json:"deadline,omitzero"` // of a call
	Timer    string         `json:"timer,omitempty"`   // that ends it; "" until the call waits
	Caught   bool           `json:"caught,omitempty"`  // the flow's onError is handling an error already
	Loop     *Loop          `json:"loop,omitempty"`    // set for a loop, which has neither Vars nor Args
}

// Loop is how far a loop has come.
type Loop struct {
	Index int   `json:"i"`
	Count int   `json:"n"` // rounds in all; -1 while nobody knows
	Items []any `json:"items,omitempty"`
	// Failed says that the round ended with an error that the loop passes over.
	Failed bool `json:"failed,omitempty"`
}

// Said counts one content that was sent.
type Said struct {
	Sum   uint32 `json:"s"`
	Count int    `json:"n"`
	Since int64  `json:"t"` // Unix seconds of the first
}

// WaitKind says what a run waits for.
type WaitKind string

// What a run can wait for.
const (
	WaitReply    WaitKind = "reply"    // a message of the contact: [Reply]
	WaitTimer    WaitKind = "timer"    // time: [Timer]
	WaitEvent    WaitKind = "event"    // [Event]
	WaitHandoff  WaitKind = "handoff"  // a person: [Assigned], [HandoffClosed]
	WaitEffect   WaitKind = "effect"   // the result of a [Call]: [EffectDone]
	WaitApproval WaitKind = "approval" // somebody's consent: [Approval]
)

// Wait is where a run stands between two turns.
type Wait struct {
	Kind  WaitKind  `json:"kind"`
	Node  string    `json:"node"`
	ID    string    `json:"id,omitempty"`    // what the answer names: the effect's or the approval's id
	Timer string    `json:"timer,omitempty"` // its id; "" means without end
	Until time.Time `json:"until,omitzero"`  // when Timer is due
	Event string    `json:"event,omitempty"` // the name, for [WaitEvent]
	Reply bool      `json:"reply,omitempty"` // a [Reply] ends it too, beside Kind
	Data  any       `json:"data,omitempty"`  // the node's own, as JSON
	Tries int       `json:"tries,omitempty"` // answers that did not fit, or attempts made
	Once  bool      `json:"once,omitempty"`  // a [Call] that must not be made twice
	Parts []string  `json:"parts,omitempty"` // fragments of a message that are being joined
}

// Ending is how a run ended.
type Ending struct {
	Status Status `json:"status"`
	Output any    `json:"output,omitempty"`
	Error  *Error `json:"error,omitempty"` // of a failed run
	Jump   *Jump  `json:"jump,omitempty"`  // the flow that takes over
}

// Status is what became of a run that ended.
type Status string

// What becomes of a run.
const (
	StatusCompleted Status = "completed"
	StatusCancelled Status = "cancelled"
	StatusFailed    Status = "failed"
)
