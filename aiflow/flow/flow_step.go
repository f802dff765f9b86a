package flow

// Step ends the run and names the flow that takes over.
func (c *flowConfig) Step(t *Turn) (Exit, error) {
	input, err := t.all(c.Input)
	if err != nil {
		return Exit{}, err
	}
	jump := Jump{Flow: c.Flow, Input: input}
	if err := t.Emit(func(id string) Effect { jump.ID = id; return jump }); err != nil {
		return Exit{}, err
	}
	t.Note(nil, map[string]any{"flow": c.Flow, "input": value(input)})
	return t.End(Ending{Status: StatusCompleted, Jump: &jump}), nil
}
