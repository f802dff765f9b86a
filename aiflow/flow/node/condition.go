package node

import (
	"fmt"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
)

// conditionConfig is the configuration of a node that takes the first branch whose
// condition is true.
type conditionConfig struct {
	Branches []conditionBranch `json:"branches" required:"true" min:"1" max:"20" doc:"Branches, tested in this order. The first one that is true is used."`
	Strict   bool              `json:"strict" default:"false" doc:"Where the node continues if an expression fails: true: at the output error; false: at the output else."`
}

type conditionBranch struct {
	ID    string          `json:"id" required:"true" pattern:"id" doc:"Id of the branch, which is the name of its output."`
	Label string          `json:"label" max:"64" doc:"Name of the branch, for people."`
	When  flow.Expression `json:"when" required:"true" want:"boolean" doc:"Condition of the branch: true or false."`
}

func conditionType() flow.NodeType {
	return flow.NodeType{
		Name: "condition", Group: "flow", Text: "Continues at the first branch whose condition is true.",
		Outputs: []flow.Output{{Name: "<branch id>", Text: "the first branch that is true"}, {Name: "else", Text: "no branch is true"}, {Name: "error", Text: "an expression failed, with strict"}},
		Pass:    "else",
		Errors:  []string{"expression.type", "expression.value"},
		Config:  func() flow.Config { return &conditionConfig{} },
	}
}

func (cfg *conditionConfig) Outputs() []string {
	outs := []string{"else", "error"}
	for _, b := range cfg.Branches {
		outs = append(outs, b.ID)
	}
	return outs
}

func (cfg *conditionConfig) Check(k *flow.Checker) {
	for i, b := range cfg.Branches {
		k.OwnID(b.ID, "branches", i, "id")
	}
}

// Step takes the first branch that is true.
func (cfg *conditionConfig) Step(t *flow.Turn) (flow.Exit, error) {
	for i := range cfg.Branches {
		b := &cfg.Branches[i]
		yes, err := truth(t, b.When)
		switch {
		case err != nil && cfg.Strict:
			return flow.Exit{}, fmt.Errorf("%s: %w", b.ID, err)
		case err != nil:
			t.Row.Warning = b.ID + ": " + t.Fault(err).Message
			return flow.Out("else"), nil
		case yes:
			return flow.Out(b.ID), nil
		}
	}
	return flow.Out("else"), nil
}

// truth evaluates a condition. Nothing is false.
func truth(t *flow.Turn, x flow.Expression) (bool, error) {
	v, err := t.Eval(x)
	if err != nil {
		return false, err
	}
	return expression.Truth(v)
}
