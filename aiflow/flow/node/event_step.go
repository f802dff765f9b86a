package node

import "github.com/trunklinehq/trunkline/aiflow/flow"

// Step makes a data event.
func (c *eventConfig) Step(t *flow.Turn) (flow.Exit, error) {
	data, err := t.All(c.Data)
	if err != nil {
		return flow.Exit{}, err
	}
	node := t.Node.Id
	err = t.Emit(func(id string) flow.Effect { return flow.DataEvent{ID: id, Node: node, Name: c.Name, Data: data} })
	if err != nil {
		return flow.Exit{}, err
	}
	t.Note(nil, map[string]any{"name": c.Name, "data": flow.ValueOf(data)})
	return flow.Out("out"), nil
}
