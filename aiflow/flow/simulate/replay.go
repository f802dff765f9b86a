package simulate

import (
	"bytes"
	"encoding/json"
	"errors"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow"
)

// Past is what came to a run that has been, and what the world answered it.
type Past struct {
	Run     flow.RunInfo // on which random ways depend
	Contact map[string]any
	Chat    map[string]any
	Input   map[string]any // that began it
	Came    []Came         // after that, in order
	Calls   []Recorded
	Until   time.Time // when it ended, or how far time has come
}

// Came is an input and when it came.
type Came struct {
	At    time.Time
	Input flow.Input
}

// Recorded is a call that was made, with its result.
type Recorded struct {
	Node    string
	Kind    flow.CallKind
	Request json.RawMessage
	Result  any
	Error   *flow.Error // instead of Result; nil: it succeeded
}

// Replayed is what a program makes of a past. Nothing is sent and no call is
// made.
type Replayed struct {
	Session *Session
	Result
	Calls   []Answered // that were asked, in order
	Untaken []int      // of Came: what it did not wait for
}

// How a call of a replay was answered.
const (
	AnswerRecorded = "recorded" // as the past has it
	AnswerOther    = "other"    // as the past answered another request of the same node
	AnswerMissing  = "missing"  // the past has none: it failed
)

// Answered is a call of a replay.
type Answered struct {
	Node   string
	Kind   flow.CallKind
	Answer string // one of the Answer constants
}

// maxReplayed bounds the steps of a replay.
const maxReplayed = 2000

// ErrLong reports a past, or what a program makes of it, that is too long to be
// replayed.
var ErrLong = errors.New("simulate: the run is too long to be replayed")

// Replay has a program live through a past. What the program does not wait for
// is passed over. One that does not end is [ErrEndless] or [ErrLong].
func Replay(p *flow.Program, past Past) (Replayed, error) {
	if past.Run.StartedAt.IsZero() {
		past.Run.StartedAt = Begin
	}
	s := &Session{
		Given: Given{Now: past.Run.StartedAt, Contact: past.Contact, Chat: past.Chat, Input: past.Input}, Now: past.Run.StartedAt,
		Timers: []flow.SetTimer{}, Used: []int{}, past: &journal{run: past.Run, calls: past.Calls, used: make([]bool, len(past.Calls))},
	}
	out := Replayed{Session: s, Result: empty()}
	r, err := s.execute(p, flow.Begin{Input: past.Input})
	out.add(r)
	for i := 0; err == nil && i < len(past.Came); i++ {
		if err = out.advance(p, past.Came[i].At); err != nil {
			break
		}
		r, err = s.Give(p, past.Came[i].Input)
		if errors.Is(err, flow.ErrNotWaiting) {
			out.Untaken, err = append(out.Untaken, i), nil
			continue
		}
		out.add(r)
	}
	if err == nil {
		err = out.advance(p, past.Until)
	}
	out.Calls = s.past.asked
	return out, err
}

// advance lets time pass until then, unless it has.
func (r *Replayed) advance(p *flow.Program, until time.Time) error {
	if d := until.Sub(r.Session.Now); d > 0 {
		passed, err := r.Session.Advance(p, d)
		r.add(passed)
		return err
	}
	return nil
}

// journal answers the calls of a replay.
type journal struct {
	run   flow.RunInfo
	calls []Recorded
	used  []bool
	asked []Answered
	steps int
}

// tooLong counts the steps of a turn.
func (j *journal) tooLong(t *flow.Turn) bool {
	j.steps += len(t.Trace)
	return j.steps > maxReplayed
}

// answer is what the past says to a call: to the same request of the same
// node, else of another one, else to whatever the node asked next.
func (j *journal) answer(c flow.Call) flow.Input {
	request, err := json.Marshal(c.Request)
	said, at := AnswerRecorded, -1
	if err == nil {
		at = j.find(func(r Recorded) bool { return r.Node == c.Node && r.Kind == c.Kind && sameJSON(r.Request, request) })
		if at < 0 {
			at = j.find(func(r Recorded) bool { return r.Kind == c.Kind && sameJSON(r.Request, request) })
		}
	}
	if at < 0 {
		said, at = AnswerOther, j.find(func(r Recorded) bool { return r.Node == c.Node && r.Kind == c.Kind })
	}
	done := flow.EffectDone{ID: c.ID}
	if at < 0 {
		said = AnswerMissing
		done.Err = &flow.Error{Code: "simulate.no_record", Message: "The run made no such call.", Node: c.Node, Attempt: c.Attempt}
	} else {
		j.used[at] = true
		done.Result, done.Err = j.calls[at].Result, j.calls[at].Error
	}
	j.asked = append(j.asked, Answered{c.Node, c.Kind, said})
	return done
}

// find is the first call that is not used and fits; -1: none does.
func (j *journal) find(fits func(Recorded) bool) int {
	for i, r := range j.calls {
		if !j.used[i] && fits(r) {
			return i
		}
	}
	return -1
}

// sameJSON compares two values as JSON, whatever the order of members.
func sameJSON(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, errX := canonical(a)
	y, errY := canonical(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

func canonical(raw []byte) ([]byte, error) {
	var v any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return json.Marshal(v)
}
