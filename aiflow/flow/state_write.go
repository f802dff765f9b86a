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
	m := members{make([]byte, 0, 1024)}
	m.text("hash", s.Hash)
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
	m.given("next", s.Next)
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
	m.given("recent", s.Recent)
	return m.end(), nil
}

func (f *Frame) write(m *members) error {
	m.item('{')
	m.given("node", f.Node)
	m.given("function", f.Function)
	m.object("vars", f.Vars)
	m.object("args", f.Args)
	if f.Error != nil {
		if err := m.other("error", f.Error); err != nil {
			return err
		}
	}
	m.time("deadline", f.Deadline)
	m.given("timer", f.Timer)
	m.truth("caught", f.Caught)
	if l := f.Loop; l != nil {
		m.open("loop", '{')
		m.int("i", l.Index)
		m.int("n", l.Count)
		if len(l.Items) > 0 {
			m.value("items", l.Items)
		}
		m.truth("failed", l.Failed)
		m.close('}')
	}
	m.close('}')
	return nil
}

func (w *Wait) write(m *members) {
	m.text("kind", string(w.Kind))
	m.text("node", w.Node)
	m.given("id", w.ID)
	m.given("timer", w.Timer)
	m.time("until", w.Until)
	m.given("event", w.Event)
	m.truth("reply", w.Reply)
	if w.Data != nil {
		m.value("data", w.Data)
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
func (m *members) open(name string, bracket byte) {
	m.name(name)
	m.out = append(m.out, bracket)
}

// item begins an object that is an item of a list.
func (m *members) item(bracket byte) {
	if m.out[len(m.out)-1] != '[' {
		m.out = append(m.out, ',')
	}
	m.out = append(m.out, bracket)
}

func (m *members) close(bracket byte) { m.out = append(m.out, bracket) }

// object is a member that is left out when it is empty.
func (m *members) object(name string, v map[string]any) {
	if len(v) > 0 {
		m.name(name)
		m.out = appendMap(m.out, v)
	}
}

// some is a number that is left out when it is 0.
func (m *members) some(name string, n int) {
	if n != 0 {
		m.int(name, n)
	}
}

// truth is a member that is left out when it is false.
func (m *members) truth(name string, yes bool) {
	if yes {
		m.value(name, yes)
	}
}

func (m *members) time(name string, t time.Time) {
	if !t.IsZero() {
		m.name(name)
		m.out = append(t.AppendFormat(append(m.out, '"'), time.RFC3339Nano), '"')
	}
}

// other writes what is rare.
func (m *members) other(name string, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("writing the state of a run: %w", err)
	}
	m.name(name)
	m.out = append(m.out, raw...)
	return nil
}
