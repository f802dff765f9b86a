package node

import (
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
)

// waitConfig waits for an event of the integrator.
type waitConfig struct {
	Event   string          `json:"event" required:"true" min:"1" max:"64" doc:"Name of the event."`
	Match   flow.Expression `json:"match" want:"boolean" doc:"Must be true of the event, which is input: input.data.order == vars.order"`
	Timeout time.Duration   `json:"timeout" default:"P3D" min:"PT10S" max:"P90D" doc:"How long it waits."`
	SaveTo  string          `json:"saveTo" pattern:"variable" writes:"true" doc:"Variable that takes the event's data."`
}

func waitType() flow.NodeType {
	return flow.NodeType{
		Name: "wait", Group: "flow", Text: "Waits until the integrator sends an event to the run.",
		Engines: flow.Modern(), Wait: "event",
		Outputs: []flow.Output{{Name: "out", Text: "the event came"}, {Name: "timeout", Text: "it did not in time"}},
		Config:  func() flow.Config { return &waitConfig{} },
	}
}

func (*waitConfig) Outputs() []string { return []string{"out", "timeout"} }

func (w *waitConfig) Check(c *flow.Checker) { c.Saves(w.SaveTo, expression.Map, "saveTo") }
