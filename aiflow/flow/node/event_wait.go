package node

import (
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
)

// waitConfig is the configuration of a node that waits for an event of the
// integrator.
type waitConfig struct {
	Event   string          `json:"event" required:"true" min:"1" max:"64" doc:"Name of the event."`
	Match   flow.Expression `json:"match" want:"boolean" doc:"Condition on the event, which is available as input: input.data.order == vars.order"`
	Timeout time.Duration   `json:"timeout" default:"P3D" min:"PT10S" max:"P90D" doc:"How long the node waits for the event."`
	SaveTo  string          `json:"saveTo" pattern:"variable" writes:"true" doc:"Name of the variable in which the event's data is stored."`
}

func waitType() flow.NodeType {
	return flow.NodeType{
		Name: "wait", Group: "flow", Text: "Waits until your program sends an event to the run.",
		Engines: modern(), Wait: "event",
		Outputs: []flow.Output{{Name: "out", Text: "the event was received"}, {Name: "timeout", Text: "the event was not received in time"}},
		Config:  func() flow.Config { return &waitConfig{} },
	}
}

func (*waitConfig) Outputs() []string { return []string{"out", "timeout"} }

func (cfg *waitConfig) Check(c *flow.Checker) { c.Saves(cfg.SaveTo, expression.Map, "saveTo") }

// Step waits for the event.
func (cfg *waitConfig) Step(t *flow.Turn) (flow.Exit, error) {
	until := t.World.Now.Add(cfg.Timeout)
	return t.Wait(flow.Wait{Kind: flow.WaitEvent, Event: cfg.Event, Timer: t.SetTimer(until), Until: until}), nil
}

// Resume continues if the event matches.
func (cfg *waitConfig) Resume(t *flow.Turn, in flow.Input) (flow.Exit, error) {
	event, ok := in.(flow.Event)
	if !ok {
		return t.TimedOut()
	}
	if cfg.Match.Present() {
		v, err := t.Eval(cfg.Match)
		if err != nil {
			return flow.Exit{}, flow.ErrNotWaiting
		}
		if yes, err := expression.Truth(v); err != nil || !yes {
			return flow.Exit{}, flow.ErrNotWaiting
		}
	}
	t.Note(map[string]any{"name": event.Name}, nil)
	if err := t.Save(cfg.SaveTo, flow.ValueOf(event.Data)); err != nil {
		return flow.Exit{}, err
	}
	return flow.Out("out"), nil
}
