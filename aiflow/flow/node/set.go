package node

import (
	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
)

// setConfig changes variables, one after the other.
type setConfig struct {
	Assign []assignment `json:"assign" required:"true" min:"1" max:"20" doc:"In their order; a later one sees what an earlier one did."`
}

type assignment struct {
	Var   string    `json:"var" required:"true" pattern:"path" writes:"true" doc:"A variable or a place in it: cart.items[0].price"`
	Op    string    `json:"op" default:"set" enum:"set,append,increment,merge,delete" doc:"set it; append to a list; increment a number; merge into an object; delete it."`
	Value flow.Data `json:"value" doc:"A literal, or a template that keeps the type of a lone {{ expression }}."`
}

func setType() flow.NodeType {
	return flow.NodeType{
		Name: "set", Group: "data", Text: "Changes variables.",
		Outputs: []flow.Output{{Name: "out", Text: "done"}, {Name: "error", Text: "a value does not fit"}},
		Errors:  []string{"expression.type", "expression.value", "value.type", "value.too_large"},
		Config:  func() flow.Config { return &setConfig{} },
	}
}

func (*setConfig) Outputs() []string { return []string{"out", "error"} }

func (s *setConfig) Check(c *flow.Checker) {
	for i, a := range s.Assign {
		if a.Op != "delete" && a.Op != "increment" {
			c.Need(a.Value.Present(), "assign", i, "value")
		}
		c.Saves(a.Var, a.kind(), "assign", i, "var")
	}
}

// kind is what the variable holds after the assignment.
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
