package node

import "github.com/trunklinehq/trunkline/aiflow/flow"

// Step ends the run and names the flow that takes over.
func (c *flowConfig) Step(t *flow.Turn) (flow.Exit, error) {
	input, err := t.All(c.Input)
	if err != nil {
		return flow.Exit{}, err
	}
	jump := flow.Jump{Flow: c.Flow, Input: input}
	if err := t.Emit(func(id string) flow.Effect { jump.ID = id; return jump }); err != nil {
		return flow.Exit{}, err
	}
	t.Note(nil, map[string]any{"flow": c.Flow, "input": flow.ValueOf(input)})
	return t.End(flow.Ending{Status: flow.StatusCompleted, Jump: &jump}), nil
}
