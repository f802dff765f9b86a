package node

import "github.com/trunklinehq/trunkline/aiflow/flow"

// Step calls the tool.
func (c *toolConfig) Step(t *flow.Turn) (flow.Exit, error) {
	r, err := c.request(t)
	if err != nil {
		return flow.Exit{}, err
	}
	t.Note(map[string]any{"server": c.Server, "tool": c.Tool, "arguments": flow.ValueOf(r.Arguments)}, nil)
	return t.Call(c.effect(r))
}

func (c *toolConfig) request(t *flow.Turn) (flow.ToolRequest, error) {
	args, err := t.All(c.Arguments)
	return flow.ToolRequest{Server: c.Server, Tool: c.Tool, Arguments: args, Auto: c.Idempotency == "auto"}, err
}

func (c *toolConfig) effect(r flow.ToolRequest) flow.Call {
	return flow.Call{Kind: flow.CallTool, Once: c.once(), Timeout: c.Timeout, Request: r}
}

func (c *toolConfig) once() bool { return c.Idempotency != "safe" }

// Resume takes the tool's result, or calls it again.
func (c *toolConfig) Resume(t *flow.Turn, in flow.Input) (flow.Exit, error) {
	done, ok := in.(flow.EffectDone)
	switch {
	case !ok:
		r, err := c.request(t)
		if err != nil {
			return flow.Exit{}, err
		}
		return t.Call(c.effect(r))
	case done.Err != nil:
		return t.Again(c.Retry, done.Err, c.once() && !done.Err.Safe())
	}
	v, err := flow.Admit(done.Result)
	if err != nil {
		return flow.Exit{}, err
	}
	t.Note(nil, map[string]any{"result": v})
	if err := t.Save(c.SaveTo, v); err != nil {
		return flow.Exit{}, err
	}
	return flow.Out("out"), nil
}
