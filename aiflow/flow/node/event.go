package node

import (
	"github.com/trunklinehq/trunkline/aiflow/flow"
)

// eventConfig is the configuration of a node that sends a data event to webhooks.
type eventConfig struct {
	Name string               `json:"name" required:"true" min:"1" max:"64" doc:"Name of the event."`
	Data map[string]flow.Data `json:"data" max:"50" doc:"Data of the event."`
}

func eventType() flow.NodeType {
	return flow.NodeType{
		Name: "event", Group: "data", Text: "Sends a data event to webhooks.",
		Outputs: []flow.Output{{Name: "out", Text: "the event is queued"}, {Name: "error", Text: "the data are not valid"}},
		Effect:  "event", Errors: []string{"expression.type", "expression.value", "value.too_large"},
		Config: func() flow.Config { return &eventConfig{} },
	}
}

func (*eventConfig) Outputs() []string   { return []string{"out", "error"} }
func (*eventConfig) Check(*flow.Checker) {}

// Step sends a data event.
func (cfg *eventConfig) Step(t *flow.Turn) (flow.Exit, error) {
	data, err := t.All(cfg.Data)
	if err != nil {
		return flow.Exit{}, err
	}
	node := t.NodeID()
	err = t.Emit(func(id string) flow.Effect { return flow.DataEvent{ID: id, Node: node, Name: cfg.Name, Data: data} })
	if err != nil {
		return flow.Exit{}, err
	}
	t.Note(nil, map[string]any{"name": cfg.Name, "data": flow.ValueOf(data)})
	return flow.Out("out"), nil
}
