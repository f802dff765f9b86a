package flow

import (
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
)

// waitConfig waits for an event of the integrator.
type waitConfig struct {
	Event   string        `json:"event" required:"true" min:"1" max:"64" doc:"Name of the event."`
	Match   Expression    `json:"match" want:"boolean" doc:"Must be true of the event, which is input: input.data.order == vars.order"`
	Timeout time.Duration `json:"timeout" default:"P3D" min:"PT10S" max:"P90D" doc:"How long it waits."`
	SaveTo  string        `json:"saveTo" pattern:"variable" writes:"true" doc:"Variable that takes the event's data."`
}

func waitType() NodeType {
	return NodeType{
		Name: "wait", Group: "flow", Text: "Waits until the integrator sends an event to the run.",
		Engines: modern(), Wait: "event",
		Outputs: []Output{{"out", "the event came"}, {"timeout", "it did not in time"}},
		Config:  func() Config { return &waitConfig{} },
	}
}

func (*waitConfig) Outputs() []string { return []string{"out", "timeout"} }

func (w *waitConfig) Check(c *Checker) { c.Saves(w.SaveTo, expression.Map, "saveTo") }
