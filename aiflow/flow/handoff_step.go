package flow

import (
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// Step asks for a person and waits.
func (c *handoffConfig) Step(t *Turn) (Exit, error) {
	if !c.BusinessHours.open(t.Now()) {
		return Out("unavailable"), nil
	}
	note, err := t.Text(c.Note)
	if err != nil {
		return Exit{}, err
	}
	if c.Message != nil {
		if err := c.Message.send(t); err != nil {
			return Exit{}, err
		}
	}
	var handoff Handoff
	err = t.Emit(func(id string) Effect {
		handoff = Handoff{ID: id, Node: t.node.id, Target: c.Target, Note: note, Pause: c.Pause}
		return handoff
	})
	if err != nil {
		return Exit{}, err
	}
	until := t.world.Now.Add(c.Timeout)
	return t.Wait(Wait{Kind: WaitHandoff, ID: handoff.ID, Timer: t.SetTimer(until), Until: until}), nil
}

// Resume goes on when somebody took the chat, is done with it, or did not
// come.
func (c *handoffConfig) Resume(t *Turn, in Input) (Exit, error) {
	switch in.(type) {
	case Assigned:
		if t.node.next["assigned"] == nil {
			return t.Wait(t.Waited()), nil
		}
		return Out("assigned"), nil
	case HandoffClosed:
		return Out("closed"), nil
	}
	t.emit(EndHandoff{ID: t.waited.ID})
	return t.timedOut()
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
