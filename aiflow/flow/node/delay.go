package node

import (
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// delayConfig waits for a time.
type delayConfig struct {
	For           flow.Text       `json:"for" max:"200" doc:"How long, from PT1S to P90D, or a template of it."`
	Until         flow.Expression `json:"until" want:"date" doc:"Until when: a date with its time. With for, the later of both."`
	Window        *windowConfig   `json:"window" doc:"Hours in which it may end; else it ends when they next begin."`
	Interruptible bool            `json:"interruptible" default:"false" doc:"Whether a message of the contact ends it."`
}

type windowConfig struct {
	Days []string `json:"days" max:"7" itemEnum:"mon,tue,wed,thu,fri,sat,sun" doc:"Which days; none: all."`
	From string   `json:"from" alias:"from_" required:"true" pattern:"clock" doc:"HH:MM"`
	To   string   `json:"to" required:"true" pattern:"clock" doc:"HH:MM; earlier than from: of the next day."`
	TZ   string   `json:"tz" max:"64" doc:"Time zone; without it that of the settings."`
}

func delayType() flow.NodeType {
	return flow.NodeType{
		Name: "delay", Group: "flow", Text: "Waits for a time, or until one.",
		Outputs: []flow.Output{{Name: "out", Text: "the time has come"}, {Name: "reply", Text: "the contact wrote before, with interruptible"}},
		Wait:    "timer",
		Config:  func() flow.Config { return &delayConfig{} },
	}
}

func (d *delayConfig) Outputs() []string {
	if d.Interruptible {
		return []string{"out", "reply"}
	}
	return []string{"out"}
}

// The range of a delay.
const (
	minDelay = time.Second
	maxDelay = 90 * 24 * time.Hour
)

func (d *delayConfig) Check(c *flow.Checker) {
	if !d.For.Present() && !d.Until.Present() && d.Window == nil {
		c.Problem("delay.nothing", "waits for nothing", "give for, until or window")
	}
	if text, constant := d.For.Constant(); constant {
		v, err := values.ParseDuration(text)
		switch {
		case err != nil:
			c.Problem("shape.duration", "is no duration", "as PT30S, PT10M, PT2H, P1D", "for")
		case v < minDelay || v > maxDelay:
			c.Problem("shape.range", "must be from PT1S to P90D", "", "for")
		}
	}
	if d.Window != nil {
		c.Timezone(d.Window.TZ, "window", "tz")
	}
}

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
