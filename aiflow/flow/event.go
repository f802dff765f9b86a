package flow

// eventConfig tells the integrator.
type eventConfig struct {
	Name string          `json:"name" required:"true" min:"1" max:"64" doc:"Of the event."`
	Data map[string]Data `json:"data" max:"50" doc:"What it says."`
}

func eventType() NodeType {
	return NodeType{
		Name: "event", Group: "data", Text: "Sends a data event to the webhooks.",
		Outputs: []Output{{"out", "it is on its way"}, {"error", "its data do not fit"}},
		Effect:  "event", Errors: []string{"expression.type", "expression.value", "value.too_large"},
		Config: func() Config { return &eventConfig{} },
	}
}

func (*eventConfig) Outputs() []string { return []string{"out", "error"} }
func (*eventConfig) Check(*Checker)    {}
