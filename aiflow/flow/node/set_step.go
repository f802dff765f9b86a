package node

import (
	"fmt"
	"maps"
	"math"

	"github.com/trunklinehq/trunkline/aiflow/flow"
)

// Step changes variables, one after the other.
func (c *setConfig) Step(t *flow.Turn) (flow.Exit, error) {
	out := make(map[string]any, len(c.Assign))
	for i := range c.Assign {
		a := &c.Assign[i]
		if err := a.apply(t); err != nil {
			return flow.Exit{}, err
		}
		name, _ := flow.CutPath(a.Var)
		out[name] = t.Scope().Vars[name]
	}
	t.Note(nil, out)
	return flow.Out("out"), nil
}

func (a *assignment) apply(t *flow.Turn) error {
	if a.Op == "delete" {
		return t.Change(a.Var, func(any) (any, error) { return flow.Removed{}, nil })
	}
	var by any = 1
	if a.Value.Present() || a.Op != "increment" {
		var err error
		if by, err = t.Data(a.Value); err != nil {
			return fmt.Errorf("%s: %w", a.Var, err)
		}
		if by, err = flow.Admit(by); err != nil {
			return flow.At(err, a.Var)
		}
	}
	return t.Change(a.Var, func(old any) (any, error) { return combine(a.Op, old, by) })
}

// combine is what an operation makes of an old value and another.
func combine(op string, old, by any) (any, error) {
	switch op {
	case "append":
		list, ok := old.([]any)
		if !ok && old != nil {
			return nil, flow.WrongType("something can be appended to a list only")
		}
		return flow.Appended(list, by)
	case "increment":
		return incremented(old, by)
	case "merge":
		return merged(old, by)
	}
	return by, nil
}

// incremented is the sum of two numbers; nothing counts as 0.
func incremented(old, by any) (any, error) {
	if old == nil {
		old = 0
	}
	a, wholeA := old.(int)
	b, wholeB := by.(int)
	if wholeA && wholeB {
		if sum := a + b; (sum > a) == (b > 0) {
			return sum, nil
		}
		return nil, flow.WrongType("the sum is too large")
	}
	x, okX := toFloat(old)
	y, okY := toFloat(by)
	if !okX || !okY || math.IsInf(x+y, 0) {
		return nil, flow.WrongType("only numbers can be incremented, and by numbers")
	}
	return flow.AdmitFloat(x + y)
}

func toFloat(v any) (float64, bool) {
	switch v := v.(type) {
	case int:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

func merged(old, by any) (any, error) {
	m, ok := old.(map[string]any)
	if !ok && old != nil {
		return nil, flow.WrongType("something can be merged into an object only")
	}
	more, ok := by.(map[string]any)
	if !ok && by != nil {
		return nil, flow.WrongType("only an object can be merged")
	}
	out := make(map[string]any, len(m)+len(more))
	maps.Copy(out, m)
	maps.Copy(out, more)
	return out, flow.FewMembers(out)
}

// appendTo adds an item to a list variable.
func appendTo(t *flow.Turn, path string, v any) error {
	v, err := flow.Admit(v)
	if err != nil {
		return flow.At(err, path)
	}
	return t.Change(path, func(old any) (any, error) { return combine("append", old, v) })
}
