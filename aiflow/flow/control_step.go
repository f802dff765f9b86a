package flow

// Step goes on: what starts a flow is looked at before it starts.
func (*triggerConfig) Step(*Turn) (Exit, error) { return Out("out"), nil }

// Step does nothing: nothing leads to a note.
func (*noteConfig) Step(*Turn) (Exit, error) { return Exit{kind: exitPathEnd}, nil }

// Step goes to the node that is named.
func (c *gotoConfig) Step(t *Turn) (Exit, error) {
	next := t.graph().steps[c.Node]
	if next == nil {
		return Exit{}, &Error{Code: "flow.no_node", Message: "there is no node " + c.Node}
	}
	return Exit{kind: exitNode, node: next}, nil
}

// Step ends the run, however deep in loops and functions.
func (c *endConfig) Step(t *Turn) (Exit, error) {
	result, err := t.Data(c.Result)
	if err != nil {
		return Exit{}, err
	}
	if result, err = admit(result); err != nil {
		return Exit{}, at(err, "result")
	}
	e := Ending{Status: Status(c.Status), Output: result}
	if e.Status == StatusFailed {
		e.Error = t.scope().Error
	}
	if result != nil {
		t.Note(nil, map[string]any{"result": result})
	}
	return t.End(e), nil
}

// Step raises an error.
func (c *throwConfig) Step(t *Turn) (Exit, error) {
	message, err := t.Text(c.Message)
	if err != nil {
		return Exit{}, err
	}
	return Exit{}, &Error{Code: c.Code, Message: message}
}

// Step leaves the loop around the node.
func (*breakConfig) Step(t *Turn) (Exit, error) { return exitLoop(t, exitBreak) }

// Step goes to the next round of the loop around the node.
func (*continueConfig) Step(t *Turn) (Exit, error) { return exitLoop(t, exitContinue) }

// inLoop is an exit that only a loop's body has.
func exitLoop(t *Turn, kind exitKind) (Exit, error) {
	if t.top().Loop == nil {
		return Exit{}, &Error{Code: "loop.none", Message: "there is no loop around the node"}
	}
	return Exit{kind: kind}, nil
}
