package node

import (
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// Codes and range of delays.
const (
	codeDelay       = "delay.time"
	leastDelay      = time.Second
	maxDelaySeconds = 90 * 24 * time.Hour
)

// Step waits, unless the time has come already.
func (c *delayConfig) Step(t *flow.Turn) (flow.Exit, error) {
	until, err := c.until(t)
	if err != nil {
		return flow.Exit{}, err
	}
	t.Note(nil, map[string]any{"until": until.Format(time.RFC3339)})
	if !until.After(t.World.Now) {
		return flow.Out("out"), nil
	}
	return t.Wait(flow.Wait{Kind: flow.WaitTimer, Timer: t.SetTimer(until), Until: until, Reply: c.Interruptible}), nil
}

// Resume goes on once the time has come, or the contact wrote.
func (*delayConfig) Resume(_ *flow.Turn, in flow.Input) (flow.Exit, error) {
	if _, ok := in.(flow.Reply); ok {
		return flow.Out("reply"), nil
	}
	return flow.Out("out"), nil
}

func (c *delayConfig) until(t *flow.Turn) (time.Time, error) {
	until := t.Now()
	if c.For.Present() {
		s, err := t.Text(c.For)
		if err != nil {
			return until, err
		}
		d, err := values.ParseDuration(s)
		if err != nil || d < leastDelay || d > maxDelaySeconds {
			return until, &flow.Error{Code: codeDelay, Message: "for: must be a duration from PT1S to P90D"}
		}
		until = until.Add(d)
	}
	if c.Until.Present() {
		when, err := c.date(t)
		if err != nil {
			return until, err
		}
		if when.After(until) {
			until = when
		}
	}
	if until.Sub(t.World.Now) > maxDelaySeconds {
		return until, &flow.Error{Code: codeDelay, Message: "until: is more than 90 days away"}
	}
	return c.Window.moved(until), nil
}

func (c *delayConfig) date(t *flow.Turn) (time.Time, error) {
	v, err := t.Eval(c.Until)
	if err != nil {
		return time.Time{}, err
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly} {
		if when, err := time.ParseInLocation(layout, values.TextOf(v), t.Now().Location()); err == nil {
			return when, nil
		}
	}
	return time.Time{}, &flow.Error{Code: codeDelay, Message: "until: must be a date with its time"}
}

// moved is when the window is next open.
func (w *windowConfig) moved(at time.Time) time.Time {
	if w == nil {
		return at
	}
	var h values.Hours
	h.Add(w.Days, w.From, w.To)
	at, _ = h.Next(at.In(values.Location(w.TZ, at.Location())))
	return at
}
