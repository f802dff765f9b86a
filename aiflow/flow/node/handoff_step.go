package node

import (
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// Step asks for a person and waits.
func (c *handoffConfig) Step(t *flow.Turn) (flow.Exit, error) {
	if !c.BusinessHours.open(t.Now()) {
		return flow.Out("unavailable"), nil
	}
	note, err := t.Text(c.Note)
	if err != nil {
		return flow.Exit{}, err
	}
	if c.Message != nil {
		if err := c.Message.send(t); err != nil {
			return flow.Exit{}, err
		}
	}
	var handoff flow.Handoff
	err = t.Emit(func(id string) flow.Effect {
		handoff = flow.Handoff{ID: id, Node: t.Node.Id, Target: c.Target, Note: note, Pause: c.Pause}
		return handoff
	})
	if err != nil {
		return flow.Exit{}, err
	}
	until := t.World.Now.Add(c.Timeout)
	return t.Wait(flow.Wait{Kind: flow.WaitHandoff, ID: handoff.ID, Timer: t.SetTimer(until), Until: until}), nil
}

// Resume goes on when somebody took the chat, is done with it, or did not
// come.
func (c *handoffConfig) Resume(t *flow.Turn, in flow.Input) (flow.Exit, error) {
	switch in.(type) {
	case flow.Assigned:
		if t.Node.Next["assigned"] == nil {
			return t.Wait(t.Waited()), nil
		}
		return flow.Out("assigned"), nil
	case flow.HandoffClosed:
		return flow.Out("closed"), nil
	}
	t.EmitNow(flow.EndHandoff{ID: t.WaitedFor.ID})
	return t.TimedOut()
}

// open reports whether somebody is there; without hours, always.
func (c *hoursConfig) open(now time.Time) bool {
	if c == nil {
		return true
	}
	var h values.Hours
	for day, spans := range c.Days {
		for _, s := range spans {
			if len(s) == 2 {
				h.Add([]string{day}, s[0], s[1])
			}
		}
	}
	return h.Contains(now.In(values.Location(c.Timezone, now.Location())))
}
