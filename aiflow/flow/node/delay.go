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
