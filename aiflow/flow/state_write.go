package flow

import (
	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// States are encoded and decoded in every turn. Hand-written code takes a third of
// the time of reflection, which would be half of a turn. A test compares it with
// the tags of the structs.

// MarshalJSON encodes the state.
func (s *State) MarshalJSON() ([]byte, error) {
	m := values.NewMembers(1024)
	m.Text("hash", s.Hash)
	m.Int("turns", s.Turns)
	m.Int("steps", s.Steps)
	m.Int("rows", s.Rows)
	m.Int("serial", s.Serial)
	m.Object("start", s.Start)
	m.Object("input", s.Input)
	if len(s.Frames) > 0 {
		m.Open("frames", '[')
		for i := range s.Frames {
			if err := s.Frames[i].write(m); err != nil {
				return nil, err
			}
		}
		m.Close(']')
	}
	m.Given("next", s.Next)
	if s.Wait != nil {
		m.Open("wait", '{')
		s.Wait.write(m)
		m.Close('}')
	}
	if s.Ended != nil {
		if err := m.Other("ended", s.Ended); err != nil {
			return nil, err
		}
	}
	if s.Failed != nil {
		if err := m.Other("failed", s.Failed); err != nil {
			return nil, err
		}
	}
	m.Some("retries", s.Retries)
	m.Some("timeouts", s.Timeouts)
	if len(s.Said) > 0 {
		m.Open("said", '[')
		for _, said := range s.Said {
			m.Item('{')
			m.Int("s", int(said.Sum))
			m.Int("n", said.Count)
			m.Int("t", int(said.Since))
			m.Close('}')
		}
		m.Close(']')
	}
	m.Given("recent", s.Recent)
	return m.End(), nil
}

func (f *Frame) write(m *values.Members) error {
	m.Item('{')
	m.Given("node", f.Node)
	m.Given("function", f.Function)
	m.Object("vars", f.Vars)
	m.Object("args", f.Args)
	if f.Error != nil {
		if err := m.Other("error", f.Error); err != nil {
			return err
		}
	}
	m.Time("deadline", f.Deadline)
	m.Given("timer", f.Timer)
	m.Truth("caught", f.Caught)
	if l := f.Loop; l != nil {
		m.Open("loop", '{')
		m.Int("i", l.Index)
		m.Int("n", l.Count)
		if len(l.Items) > 0 {
			m.Value("items", l.Items)
		}
		m.Truth("failed", l.Failed)
		m.Close('}')
	}
	m.Close('}')
	return nil
}

func (w *Wait) write(m *values.Members) {
	m.Text("kind", string(w.Kind))
	m.Text("node", w.Node)
	m.Given("id", w.ID)
	m.Given("timer", w.Timer)
	m.Time("until", w.Until)
	m.Given("event", w.Event)
	m.Truth("reply", w.Reply)
	if w.Data != nil {
		m.Value("data", w.Data)
	}
	m.Some("tries", w.Tries)
	m.Truth("once", w.Once)
	m.Texts("parts", w.Parts)
}
