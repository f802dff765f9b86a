package flow

// Step makes a data event.
func (c *eventConfig) Step(t *Turn) (Exit, error) {
	data, err := t.all(c.Data)
	if err != nil {
		return Exit{}, err
	}
	node := t.node.id
	err = t.Emit(func(id string) Effect { return DataEvent{ID: id, Node: node, Name: c.Name, Data: data} })
	if err != nil {
		return Exit{}, err
	}
	t.Note(nil, map[string]any{"name": c.Name, "data": value(data)})
	return Out("out"), nil
}
