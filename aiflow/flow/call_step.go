package flow

// Step begins a function, with variables of its own.
func (c *callConfig) Step(t *Turn) (Exit, error) {
	g := t.graph().functions[c.Function]
	if g == nil {
		return Exit{}, &Error{Code: "function.not_found", Message: "there is no function " + c.Function}
	}
	args, err := t.all(c.Args)
	if err != nil {
		return Exit{}, err
	}
	t.Note(args, nil)
	if args, err = conformAll("args", args, g.args); err != nil {
		return Exit{}, err
	}
	f := Frame{Node: t.node.id, Function: c.Function, Vars: g.initial(), Args: args}
	if c.Timeout > 0 {
		f.Deadline = t.world.Now.Add(c.Timeout)
	}
	return Exit{kind: exitNode, node: g.start}, enter(t, f, g)
}

// enter begins a call or a loop, unless there are too many around it.
func enter(t *Turn, f Frame, g *Program) error {
	if len(t.State.Frames) > limitRunFrames {
		return overLimit(codeRunFrames, "more than %d calls and loops stand inside each other%s", limitRunFrames, repeated(t.recent))
	}
	t.push(f, g)
	return nil
}

// Step ends the function and gives values back.
func (c *returnConfig) Step(t *Turn) (Exit, error) {
	values, err := t.all(c.Value)
	if err != nil {
		return Exit{}, err
	}
	if values, err = conformAll("returns", values, t.graph().returns); err != nil {
		return Exit{}, err
	}
	if len(t.State.Frames) == 1 || t.base == 0 {
		return t.End(Ending{Status: StatusCompleted, Output: value(values)}), nil
	}
	t.Note(nil, map[string]any{"name": c.Name, "value": value(values)})
	return Exit{kind: exitReturn, output: c.Name, value: value(values)}, nil
}
