package node

import (
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// delayConfig is the configuration of a node that waits for a time.
type delayConfig struct {
	For           flow.Text       `json:"for" max:"200" doc:"How long to wait, from PT1S to P90D, or a template that returns such a duration."`
	Until         flow.Expression `json:"until" want:"date" doc:"Date and time until which to wait. With for, the later of both counts."`
	Window        *windowConfig   `json:"window" doc:"Hours in which the delay may end. Outside of them, it ends when the next ones start."`
	Interruptible bool            `json:"interruptible" default:"false" doc:"Whether a message of the contact ends the delay."`
}

type windowConfig struct {
	Days []string `json:"days" max:"7" itemEnum:"mon,tue,wed,thu,fri,sat,sun" doc:"Days of the week. If empty, all days."`
	From string   `json:"from" alias:"from_" required:"true" pattern:"clock" doc:"Start as HH:MM."`
	To   string   `json:"to" required:"true" pattern:"clock" doc:"End as HH:MM. If it is earlier than from, it is on the next day."`
	TZ   string   `json:"tz" max:"64" doc:"Time zone. Default: that of the settings."`
}

func delayType() flow.NodeType {
	return flow.NodeType{
		Name: "delay", Group: "flow", Text: "Waits for a duration, or until a time.",
		Outputs: []flow.Output{{Name: "out", Text: "the time has come"}, {Name: "reply", Text: "the contact has written earlier, with interruptible"}},
		Wait:    "timer",
		Config:  func() flow.Config { return &delayConfig{} },
	}
}

func (cfg *delayConfig) Outputs() []string {
	if cfg.Interruptible {
		return []string{"out", "reply"}
	}
	return []string{"out"}
}

// The range of a delay.
const (
	minDelay = time.Second
	maxDelay = 90 * 24 * time.Hour
)

func (cfg *delayConfig) Check(c *flow.Checker) {
	if !cfg.For.Present() && !cfg.Until.Present() && cfg.Window == nil {
		c.Problem("delay.nothing", "has no time to wait for", "set for, until or window")
	}
	if text, constant := cfg.For.Constant(); constant {
		v, err := values.ParseDuration(text)
		switch {
		case err != nil:
			c.Problem("shape.duration", "is not a duration", "for example PT30S, PT10M, PT2H or P1D", "for")
		case v < minDelay || v > maxDelay:
			c.Problem("shape.range", "must be from PT1S to P90D", "", "for")
		}
	}
	if cfg.Window != nil {
		c.Timezone(cfg.Window.TZ, "window", "tz")
	}
}

// codeDelay is the code for a time that is invalid or too far away.
const codeDelay = "delay.time"

// Step waits, unless the time is in the past.
func (cfg *delayConfig) Step(t *flow.Turn) (flow.Exit, error) {
	until, err := cfg.until(t)
	if err != nil {
		return flow.Exit{}, err
	}
	t.Note(nil, map[string]any{"until": until.Format(time.RFC3339)})
	if !until.After(t.World.Now) {
		return flow.Out("out"), nil
	}
	set := t.SetTimer
	if cfg.Until.Present() || cfg.Window != nil {
		set = t.SetAlarm
	}
	return t.Wait(flow.Wait{Kind: flow.WaitTimer, Timer: set(until), Until: until, Reply: cfg.Interruptible}), nil
}

// Resume continues when the time has come or the contact has written.
func (*delayConfig) Resume(_ *flow.Turn, in flow.Input) (flow.Exit, error) {
	if _, ok := in.(flow.Reply); ok {
		return flow.Out("reply"), nil
	}
	return flow.Out("out"), nil
}

func (cfg *delayConfig) until(t *flow.Turn) (time.Time, error) {
	until := t.Now()
	if cfg.For.Present() {
		s, err := t.Text(cfg.For)
		if err != nil {
			return until, err
		}
		d, err := values.ParseDuration(s)
		if err != nil || d < minDelay || d > maxDelay {
			return until, &flow.Error{Code: codeDelay, Message: "for: must be a duration from PT1S to P90D"}
		}
		until = until.Add(d)
	}
	if cfg.Until.Present() {
		when, err := cfg.date(t)
		if err != nil {
			return until, err
		}
		if when.After(until) {
			until = when
		}
	}
	if until.Sub(t.World.Now) > maxDelay {
		return until, &flow.Error{Code: codeDelay, Message: "until: must be at most 90 days away"}
	}
	return cfg.Window.moved(until), nil
}

func (cfg *delayConfig) date(t *flow.Turn) (time.Time, error) {
	v, err := t.Eval(cfg.Until)
	if err != nil {
		return time.Time{}, err
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly} {
		if when, err := time.ParseInLocation(layout, values.TextOf(v), t.Now().Location()); err == nil {
			return when, nil
		}
	}
	return time.Time{}, &flow.Error{Code: codeDelay, Message: "until: must be a date with a time"}
}

// moved returns the next time at which the window is open.
func (cfg *windowConfig) moved(at time.Time) time.Time {
	if cfg == nil {
		return at
	}
	var h values.Hours
	h.Add(cfg.Days, cfg.From, cfg.To)
	at, _ = h.Next(at.In(values.Location(cfg.TZ, at.Location())))
	return at
}
