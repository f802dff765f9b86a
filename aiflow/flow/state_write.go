package flow

import (
	"encoding/json"
	"fmt"
	"time"
)

// States are written and read at every turn. Done by hand that takes a third
// of what reflection takes, which would be half of a turn; a test holds it
// against the tags of the structs.

// MarshalJSON writes the state.
func (s *State) MarshalJSON() ([]byte, error) {
	m := Members{make([]byte, 0, 1024)}
	m.Text("hash", s.Hash)
	m.int("turns", s.Turns)
	m.int("steps", s.Steps)
	m.int("rows", s.Rows)
	m.int("serial", s.Serial)
	m.object("start", s.Start)
	m.object("input", s.Input)
	if len(s.Frames) > 0 {
		m.open("frames", '[')
		for i := range s.Frames {
			if err := s.Frames[i].write(&m); err != nil {
				return nil, err
			}
		}
		m.close(']')
	}
	m.Given("next", s.Next)
	if s.Wait != nil {
		m.open("wait", '{')
		s.Wait.write(&m)
		m.close('}')
	}
	if s.Ended != nil {
		if err := m.other("ended", s.Ended); err != nil {
			return nil, err
		}
	}
	if s.Failed != nil {
		if err := m.other("failed", s.Failed); err != nil {
			return nil, err
		}
	}
	m.some("retries", s.Retries)
	m.some("timeouts", s.Timeouts)
	if len(s.Said) > 0 {
		m.open("said", '[')
		for _, said := range s.Said {
			m.item('{')
			m.int("s", int(said.Sum))
			m.int("n", said.Count)
			m.int("t", int(said.Since))
			m.close('}')
		}
		m.close(']')
	}
	m.Given("recent", s.Recent)
	return m.End(), nil
}

func (f *Frame) write(m *Members) error {
	m.item('{')
	m.Given("node", f.Node)
	m.Given("function", f.Function)
	m.object("vars", f.Vars)
	m.object("args", f.Args)
	if f.Error != nil {
		if err := m.other("error", f.Error); err != nil {
			return err
		}
	}
	m.time("deadline", f.Deadline)
	m.Given("timer", f.Timer)
	m.truth("caught", f.Caught)
	if l := f.Loop; l != nil {
		m.open("loop", '{')
		m.int("i", l.Index)
		m.int("n", l.Count)
		if len(l.Items) > 0 {
			m.Value("items", l.Items)
		}
		m.truth("failed", l.Failed)
		m.close('}')
	}
	m.close('}')
	return nil
}

func (w *Wait) write(m *Members) {
	m.Text("kind", string(w.Kind))
	m.Text("node", w.Node)
	m.Given("id", w.ID)
	m.Given("timer", w.Timer)
	m.time("until", w.Until)
	m.Given("event", w.Event)
	m.truth("reply", w.Reply)
	if w.Data != nil {
		m.Value("data", w.Data)
	}
	m.some("tries", w.Tries)
	m.truth("once", w.Once)
	if len(w.Parts) > 0 {
		m.open("parts", '[')
		for i, part := range w.Parts {
			if i > 0 {
				m.out = append(m.out, ',')
			}
			m.out = appendQuoted(m.out, part)
		}
		m.close(']')
	}
}

// open begins an object or a list that is a member.
func (m *Members) open(name string, bracket byte) {
	m.name(name)
	m.out = append(m.out, bracket)
}

// item begins an object that is an item of a list.
func (m *Members) item(bracket byte) {
	if m.out[len(m.out)-1] != '[' {
		m.out = append(m.out, ',')
	}
	m.out = append(m.out, bracket)
}

func (m *Members) close(bracket byte) { m.out = append(m.out, bracket) }

// object is a member that is left out when it is empty.
func (m *Members) object(name string, v map[string]any) {
	if len(v) > 0 {
		m.name(name)
		m.out = appendMap(m.out, v)
	}
}

// some is a number that is left out when it is 0.
func (m *Members) some(name string, n int) {
	if n != 0 {
		m.int(name, n)
	}
}

// truth is a member that is left out when it is false.
func (m *Members) truth(name string, yes bool) {
	if yes {
		m.Value(name, yes)
	}
}

func (m *Members) time(name string, t time.Time) {
	if !t.IsZero() {
		m.name(name)
		m.out = append(t.AppendFormat(append(m.out, '"'), time.RFC3339Nano), '"')
	}
}

// other writes what is rare.
func (m *Members) other(name string, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("writing the state of a run: %w", err)
	}
	m.name(name)
	m.out = append(m.out, raw...)
	return nil
}
