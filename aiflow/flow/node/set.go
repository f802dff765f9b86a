package node

import (
	"fmt"
	"maps"
	"math"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// setConfig is the configuration of a node that assigns variables, in order.
type setConfig struct {
	Assign []assignment `json:"assign" required:"true" min:"1" max:"20" doc:"Assignments, made in this order. Later ones see the results of earlier ones."`
}

type assignment struct {
	Var   string    `json:"var" required:"true" pattern:"path" writes:"true" doc:"Name of the variable, or a path in it: cart.items[0].price"`
	Op    string    `json:"op" default:"set" enum:"set,append,increment,merge,delete" doc:"set a value; append to a list; increment a number; merge into an object; delete."`
	Value flow.Data `json:"value" doc:"A value, or a template. A template of only one {{ expression }} keeps the type of its result."`
}

func setType() flow.NodeType {
	return flow.NodeType{
		Name: "set", Group: "data", Text: "Changes variables.",
		Outputs: []flow.Output{{Name: "out", Text: "done"}, {Name: "error", Text: "a value has the wrong type"}},
		Errors:  []string{"expression.type", "expression.value", "value.type", "value.too_large"},
		Config:  func() flow.Config { return &setConfig{} },
	}
}

func (*setConfig) Outputs() []string { return []string{"out", "error"} }

func (cfg *setConfig) Check(c *flow.Checker) {
	for i, a := range cfg.Assign {
		if a.Op != "delete" && a.Op != "increment" {
			c.Need(a.Value.Present(), "assign", i, "value")
		}
		c.Saves(a.Var, a.kind(), "assign", i, "var")
	}
}

// kind returns the kind of the variable after the assignment.
func (a *assignment) kind() expression.Kind {
	switch a.Op {
	case "append":
		return expression.List
	case "increment":
		return expression.Number
	case "merge":
		return expression.Map
	case "delete":
		return 0
	}
	return a.Value.Kind()
}

// Step changes variables, one after the other.
func (cfg *setConfig) Step(t *flow.Turn) (flow.Exit, error) {
	out := make(map[string]any, len(cfg.Assign))
	for i := range cfg.Assign {
		a := &cfg.Assign[i]
		if err := a.apply(t); err != nil {
			return flow.Exit{}, err
		}
		name, _ := values.CutPath(a.Var)
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
		if by, err = values.Admit(by); err != nil {
			return values.At(err, a.Var)
		}
	}
	return t.Change(a.Var, func(old any) (any, error) { return combine(a.Op, old, by) })
}

// combine applies an operation to the old value and the operand.
func combine(op string, old, by any) (any, error) {
	switch op {
	case "append":
		list, ok := old.([]any)
		if !ok && old != nil {
			return nil, values.WrongType("append needs a list")
		}
		return values.Appended(list, by)
	case "increment":
		return incremented(old, by)
	case "merge":
		return merged(old, by)
	}
	return by, nil
}

// incremented returns the sum of two numbers. Nothing counts as 0.
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
		return nil, values.WrongType("the sum is too large")
	}
	x, okX := toFloat(old)
	y, okY := toFloat(by)
	if !okX || !okY || math.IsInf(x+y, 0) {
		return nil, values.WrongType("increment needs numbers")
	}
	return values.AdmitFloat(x + y)
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
		return nil, values.WrongType("merge needs a variable with an object")
	}
	more, ok := by.(map[string]any)
	if !ok && by != nil {
		return nil, values.WrongType("merge needs an object as its value")
	}
	out := make(map[string]any, len(m)+len(more))
	maps.Copy(out, m)
	maps.Copy(out, more)
	return out, values.FewMembers(out)
}

// appendTo adds an item to a list variable.
func appendTo(t *flow.Turn, path string, v any) error {
	v, err := values.Admit(v)
	if err != nil {
		return values.At(err, path)
	}
	return t.Change(path, func(old any) (any, error) { return combine("append", old, v) })
}
