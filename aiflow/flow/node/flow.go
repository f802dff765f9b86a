package node

import (
	"github.com/trunklinehq/trunkline/aiflow/flow"
)

// flowConfig is the configuration of a node that starts another flow and ends this
// one.
type flowConfig struct {
	Flow  string               `json:"flow" required:"true" pattern:"slug" doc:"Slug of a flow of the same project."`
	Input map[string]flow.Data `json:"input" max:"50" doc:"Input of the flow."`
}

func flowType() flow.NodeType {
	return flow.NodeType{
		Name: "flow", Group: "flow", Text: "Ends this flow and starts another one.",
		Effect: "jump", Errors: []string{"flow.not_found"},
		Config: func() flow.Config { return &flowConfig{} },
	}
}

func (*flowConfig) Outputs() []string   { return nil }
func (*flowConfig) Check(*flow.Checker) {}

func (cfg *flowConfig) Refer(c *flow.Checker, env *flow.Environment) {
	c.Refer("flow", cfg.Flow, env.Flows, "flow")
}

// Step ends the run and names the flow that follows.
func (cfg *flowConfig) Step(t *flow.Turn) (flow.Exit, error) {
	input, err := t.All(cfg.Input)
	if err != nil {
		return flow.Exit{}, err
	}
	jump := flow.Jump{Flow: cfg.Flow, Input: input}
	if err := t.Emit(func(id string) flow.Effect { jump.ID = id; return jump }); err != nil {
		return flow.Exit{}, err
	}
	t.Note(nil, map[string]any{"flow": cfg.Flow, "input": flow.ValueOf(input)})
	return t.End(flow.Ending{Status: flow.StatusCompleted, Jump: &jump}), nil
}
