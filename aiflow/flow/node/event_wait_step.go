package node

import (
	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
)

// Step waits for the event.
func (c *waitConfig) Step(t *flow.Turn) (flow.Exit, error) {
	until := t.World.Now.Add(c.Timeout)
	return t.Wait(flow.Wait{Kind: flow.WaitEvent, Event: c.Event, Timer: t.SetTimer(until), Until: until}), nil
}

// Resume takes the event if it matches.
func (c *waitConfig) Resume(t *flow.Turn, in flow.Input) (flow.Exit, error) {
	event, ok := in.(flow.Event)
	if !ok {
		return t.TimedOut()
	}
	if c.Match.Present() {
		v, err := t.Eval(c.Match)
		if err != nil {
			return flow.Exit{}, flow.ErrNotWaiting
		}
		if yes, err := expression.Truth(v); err != nil || !yes {
			return flow.Exit{}, flow.ErrNotWaiting
		}
	}
	t.Note(map[string]any{"name": event.Name}, nil)
	if err := t.Save(c.SaveTo, flow.ValueOf(event.Data)); err != nil {
		return flow.Exit{}, err
	}
	return flow.Out("out"), nil
}
