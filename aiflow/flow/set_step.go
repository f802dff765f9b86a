package flow

import (
	"fmt"
	"maps"
	"math"
)

// Step changes variables, one after the other.
func (c *setConfig) Step(t *Turn) (Exit, error) {
	out := make(map[string]any, len(c.Assign))
	for i := range c.Assign {
		a := &c.Assign[i]
		if err := a.apply(t); err != nil {
			return Exit{}, err
		}
		name, _ := cutPath(a.Var)
		out[name] = t.scope().Vars[name]
	}
	t.Note(nil, out)
	return Out("out"), nil
}

func (a *assignment) apply(t *Turn) error {
	if a.Op == "delete" {
		return t.change(a.Var, func(any) (any, error) { return removed{}, nil })
	}
	var by any = 1
	if a.Value.Present() || a.Op != "increment" {
		var err error
		if by, err = t.Data(a.Value); err != nil {
			return fmt.Errorf("%s: %w", a.Var, err)
		}
		if by, err = admit(by); err != nil {
			return at(err, a.Var)
		}
	}
	return t.change(a.Var, func(old any) (any, error) { return combine(a.Op, old, by) })
}

// combine is what an operation makes of an old value and another.
func combine(op string, old, by any) (any, error) {
	switch op {
	case "append":
		list, ok := old.([]any)
		if !ok && old != nil {
			return nil, wrongType("something can be appended to a list only")
		}
		return appended(list, by)
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
		return nil, wrongType("the sum is too large")
	}
	x, okX := toFloat(old)
	y, okY := toFloat(by)
	if !okX || !okY || math.IsInf(x+y, 0) {
		return nil, wrongType("only numbers can be incremented, and by numbers")
	}
	return admitFloat(x + y)
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
		return nil, wrongType("something can be merged into an object only")
	}
	more, ok := by.(map[string]any)
	if !ok && by != nil {
		return nil, wrongType("only an object can be merged")
	}
	out := make(map[string]any, len(m)+len(more))
	maps.Copy(out, m)
	maps.Copy(out, more)
	return out, fewMembers(out)
}

// appendTo adds an item to a list variable.
func appendTo(t *Turn, path string, v any) error {
	v, err := admit(v)
	if err != nil {
		return at(err, path)
	}
	return t.change(path, func(old any) (any, error) { return combine("append", old, v) })
}
