package flow

// Step calls the tool.
func (c *toolConfig) Step(t *Turn) (Exit, error) {
	r, err := c.request(t)
	if err != nil {
		return Exit{}, err
	}
	t.Note(map[string]any{"server": c.Server, "tool": c.Tool, "arguments": value(r.Arguments)}, nil)
	return t.call(c.effect(r))
}

func (c *toolConfig) request(t *Turn) (ToolRequest, error) {
	args, err := t.all(c.Arguments)
	return ToolRequest{Server: c.Server, Tool: c.Tool, Arguments: args, Auto: c.Idempotency == "auto"}, err
}

func (c *toolConfig) effect(r ToolRequest) Call {
	return Call{Kind: CallTool, Once: c.once(), Timeout: c.Timeout, Request: r}
}

func (c *toolConfig) once() bool { return c.Idempotency != "safe" }

// Resume takes the tool's result, or calls it again.
func (c *toolConfig) Resume(t *Turn, in Input) (Exit, error) {
	done, ok := in.(EffectDone)
	switch {
	case !ok:
		r, err := c.request(t)
		if err != nil {
			return Exit{}, err
		}
		return t.call(c.effect(r))
	case done.Err != nil:
		return t.again(c.Retry, done.Err, c.once() && !done.Err.safe())
	}
	v, err := admit(done.Result)
	if err != nil {
		return Exit{}, err
	}
	t.Note(nil, map[string]any{"result": v})
	if err := t.save(c.SaveTo, v); err != nil {
		return Exit{}, err
	}
	return Out("out"), nil
}

// safe reports whether a tool says of itself that its call, which failed, may
// be made again.
func (e *Error) safe() bool { return e.Detail["safe"] == true }
