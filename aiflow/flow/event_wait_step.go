package flow

import "github.com/trunklinehq/trunkline/aiflow/flow/expression"

// Step waits for the event.
func (c *waitConfig) Step(t *Turn) (Exit, error) {
	until := t.world.Now.Add(c.Timeout)
	return t.Wait(Wait{Kind: WaitEvent, Event: c.Event, Timer: t.SetTimer(until), Until: until}), nil
}

// Resume takes the event if it matches.
func (c *waitConfig) Resume(t *Turn, in Input) (Exit, error) {
	event, ok := in.(Event)
	if !ok {
		return t.timedOut()
	}
	if c.Match.Present() {
		v, err := t.Eval(c.Match)
		if err != nil {
			return Exit{}, ErrNotWaiting
		}
		if yes, err := expression.Truth(v); err != nil || !yes {
			return Exit{}, ErrNotWaiting
		}
	}
	t.Note(map[string]any{"name": event.Name}, nil)
	if err := t.save(c.SaveTo, value(event.Data)); err != nil {
		return Exit{}, err
	}
	return Out("out"), nil
}
