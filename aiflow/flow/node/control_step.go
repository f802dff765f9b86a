package node

import "github.com/trunklinehq/trunkline/aiflow/flow"

// Step does nothing: nothing leads to a note.
func (*noteConfig) Step(*flow.Turn) (flow.Exit, error) { return flow.Exit{Kind: flow.ExitPathEnd}, nil }

// Step goes to the node that is named.
func (c *gotoConfig) Step(t *flow.Turn) (flow.Exit, error) {
	next := t.Graph().Steps[c.Node]
	if next == nil {
		return flow.Exit{}, &flow.Error{Code: "flow.no_node", Message: "there is no node " + c.Node}
	}
	return flow.Exit{Kind: flow.ExitNode, Node: next}, nil
}

// Step ends the run, however deep in loops and functions.
func (c *endConfig) Step(t *flow.Turn) (flow.Exit, error) {
	result, err := t.Data(c.Result)
	if err != nil {
		return flow.Exit{}, err
	}
	if result, err = flow.Admit(result); err != nil {
		return flow.Exit{}, flow.At(err, "result")
	}
	e := flow.Ending{Status: flow.Status(c.Status), Output: result}
	if e.Status == flow.StatusFailed {
		e.Error = t.Scope().Error
	}
	if result != nil {
		t.Note(nil, map[string]any{"result": result})
	}
	return t.End(e), nil
}

// Step raises an error.
func (c *throwConfig) Step(t *flow.Turn) (flow.Exit, error) {
	message, err := t.Text(c.Message)
	if err != nil {
		return flow.Exit{}, err
	}
	return flow.Exit{}, &flow.Error{Code: c.Code, Message: message}
}

// Step leaves the loop around the node.
func (*breakConfig) Step(t *flow.Turn) (flow.Exit, error) { return exitLoop(t, flow.ExitBreak) }

// Step goes to the next round of the loop around the node.
func (*continueConfig) Step(t *flow.Turn) (flow.Exit, error) { return exitLoop(t, flow.ExitContinue) }

// inLoop is an exit that only a loop's body has.
func exitLoop(t *flow.Turn, kind flow.ExitKind) (flow.Exit, error) {
	if t.Top().Loop == nil {
		return flow.Exit{}, &flow.Error{Code: "loop.none", Message: "there is no loop around the node"}
	}
	return flow.Exit{Kind: kind}, nil
}
