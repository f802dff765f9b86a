package node

import "github.com/trunklinehq/trunkline/aiflow/flow"

// Step begins a function, with variables of its own.
func (c *callConfig) Step(t *flow.Turn) (flow.Exit, error) {
	g := t.Graph().Called[c.Function]
	if g == nil {
		return flow.Exit{}, &flow.Error{Code: "function.not_found", Message: "there is no function " + c.Function}
	}
	args, err := t.All(c.Args)
	if err != nil {
		return flow.Exit{}, err
	}
	t.Note(args, nil)
	if args, err = flow.ConformAll("args", args, g.Args); err != nil {
		return flow.Exit{}, err
	}
	f := flow.Frame{Node: t.Node.Id, Function: c.Function, Vars: g.Initial(), Args: args}
	if c.Timeout > 0 {
		f.Deadline = t.World.Now.Add(c.Timeout)
	}
	return flow.Exit{Kind: flow.ExitNode, Node: g.Start}, enter(t, f, g)
}

// enter begins a call or a loop, unless there are too many around it.
func enter(t *flow.Turn, f flow.Frame, g *flow.Program) error {
	if len(t.State.Frames) > flow.LimitRunFrames {
		return flow.OverLimit(flow.CodeRunFrames, "more than %d calls and loops stand inside each other%s", flow.LimitRunFrames, flow.Repeated(t.Recent))
	}
	t.Push(f, g)
	return nil
}

// Step ends the function and gives values back.
func (c *returnConfig) Step(t *flow.Turn) (flow.Exit, error) {
	values, err := t.All(c.Value)
	if err != nil {
		return flow.Exit{}, err
	}
	if values, err = flow.ConformAll("returns", values, t.Graph().Returns); err != nil {
		return flow.Exit{}, err
	}
	if len(t.State.Frames) == 1 || t.Base == 0 {
		return t.End(flow.Ending{Status: flow.StatusCompleted, Output: flow.ValueOf(values)}), nil
	}
	t.Note(nil, map[string]any{"name": c.Name, "value": flow.ValueOf(values)})
	return flow.Exit{Kind: flow.ExitReturn, Output: c.Name, Value: flow.ValueOf(values)}, nil
}
