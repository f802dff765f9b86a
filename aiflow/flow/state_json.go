package flow

import (
	"encoding/json"
	"fmt"
)

// UnmarshalJSON reads a state as it was written: whole numbers are whole, and
// exact to 64 bits.
func (s *State) UnmarshalJSON(raw []byte) error {
	type plain State
	if err := exactly(raw, (*plain)(s)); err != nil {
		return fmt.Errorf("reading the state of a run: %w", err)
	}
	s.settle()
	return nil
}

// settle puts numbers for what was read as their text.
func (s *State) settle() {
	settleMap(s.Start)
	settleMap(s.Input)
	for i := range s.Frames {
		f := &s.Frames[i]
		settleMap(f.Vars)
		settleMap(f.Args)
		f.Error.settle()
		if f.Loop != nil {
			settleList(f.Loop.Items)
		}
	}
	if s.Wait != nil {
		s.Wait.Data = settled(s.Wait.Data)
	}
	if e := s.Ended; e != nil {
		e.Output = settled(e.Output)
		e.Error.settle()
		if e.Jump != nil {
			settleMap(e.Jump.Input)
		}
	}
}

func (e *Error) settle() {
	if e != nil {
		settleMap(e.Detail)
	}
}

func settleMap(m map[string]any) {
	for name, v := range m {
		switch v.(type) {
		case json.Number, []any, map[string]any:
			m[name] = settled(v)
		}
	}
}

func settleList(list []any) {
	for i, v := range list {
		list[i] = settled(v)
	}
}

func settled(v any) any {
	switch v := v.(type) {
	case json.Number:
		n, err := admitNumber(v)
		if err != nil {
			return nil // no state holds such a number
		}
		return n
	case []any:
		settleList(v)
	case map[string]any:
		settleMap(v)
	}
	return v
}
