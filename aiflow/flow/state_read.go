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

// UnmarshalJSON reads a state as it was written: whole numbers are whole, and
// exact to 64 bits.
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

// stateReader reads parts of a state and keeps the first error.
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
		s.Ended.settle()
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
			f.Error.settle()
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
	out, rest, err := readValue(v, 1)
	if err == nil && len(rest) > 0 {
		err = errNotJSON
	}
	if err != nil {
		r.fail(err)
	}
	return out
}

// other reads what is rare.
func (r *stateReader) other(raw []byte, v any) {
	if err := values.Decode(raw, v); err != nil {
		r.fail(err)
	}
}

func (e *Ending) settle() {
	e.Output = settled(e.Output)
	e.Error.settle()
	if e.Jump != nil {
		settled(e.Jump.Input)
	}
}

func (e *Error) settle() {
	if e != nil {
		settled(e.Detail)
	}
}

// settled puts numbers for what was read as their text; lists and objects are
// changed in place.
func settled(v any) any {
	switch v := v.(type) {
	case json.Number:
		n, _ := admitNumber(v) // no state holds one that is too large
		return n
	case []any:
		for i, item := range v {
			v[i] = settled(item)
		}
	case map[string]any:
		for name, item := range v {
			v[name] = settled(item)
		}
	}
	return v
}
