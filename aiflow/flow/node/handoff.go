package node

import (
	"maps"
	"slices"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// handoffConfig is the configuration of a node that hands the chat over to a
// person.
type handoffConfig struct {
	Target        string         `json:"target" max:"200" doc:"Person or team that should take over, as free text for the inbox."`
	Note          flow.Text      `json:"note" max:"2000" doc:"Note for that person."`
	Message       *messageConfig `json:"message" doc:"Message to the contact."`
	Pause         bool           `json:"pause" default:"true" doc:"Whether bots are off in the chat until the person has finished."`
	Timeout       time.Duration  `json:"timeout" default:"P3D" min:"PT1M" max:"P90D" doc:"How long to wait for the person to finish."`
	BusinessHours *hoursConfig   `json:"businessHours" doc:"Hours in which people are available. Outside of them, the node continues at the output unavailable."`
}

type hoursConfig struct {
	Timezone string                `json:"timezone" max:"64" doc:"Time zone. Default: that of the settings."`
	Days     map[string][][]string `json:"days" required:"true" keys:"day" max:"7" doc:"Hours by day of the week: {\"mon\": [[\"09:00\", \"18:00\"]]}"`
}

func handoffType() flow.NodeType {
	return flow.NodeType{
		Name: "handoff", Group: "talk", Text: "Passes the chat to a person and waits.",
		Outputs: []flow.Output{
			{Name: "assigned", Text: "a person has taken the chat (if not connected: the node waits for closed)"},
			{Name: "closed", Text: "the person has finished"},
			{Name: "unavailable", Text: "outside of the business hours"},
			{Name: "timeout", Text: "the person did not finish in time"},
			{Name: "error", Text: "the chat could not be passed on"},
		},
		Pass: "closed", Wait: "handoff", Effect: "handoff",
		Errors: []string{"channel.window_closed", "channel.unsupported", "channel.rejected"},
		Config: func() flow.Config { return &handoffConfig{} },
	}
}

func (*handoffConfig) Outputs() []string {
	return []string{"assigned", "closed", "unavailable", "timeout", "error"}
}

func (cfg *handoffConfig) Check(c *flow.Checker) {
	if cfg.Message != nil {
		cfg.Message.check(c, "message")
	}
	if cfg.BusinessHours == nil {
		return
	}
	c.Timezone(cfg.BusinessHours.Timezone, "businessHours", "timezone")
	for _, day := range slices.Sorted(maps.Keys(cfg.BusinessHours.Days)) {
		for i, span := range cfg.BusinessHours.Days[day] {
			if len(span) != 2 || !values.Patterns["clock"]().MatchString(span[0]) || !isClosing(span[1]) || span[0] >= span[1] {
				c.Problem("handoff.hours", "must be a pair of times, the earlier one first", `for example ["09:00", "18:00"]`, "businessHours", "days", day, i)
			}
		}
	}
}

// isClosing accepts 24:00, the end of a day, besides the times of a clock.
func isClosing(s string) bool { return s == "24:00" || values.Patterns["clock"]().MatchString(s) }

func (cfg *handoffConfig) Refer(c *flow.Checker, env *flow.Environment) {
	if cfg.Message != nil {
		cfg.Message.fits(c, env, "message")
	}
}

// Step hands the chat over and waits.
func (cfg *handoffConfig) Step(t *flow.Turn) (flow.Exit, error) {
	if !cfg.BusinessHours.open(t.Now()) {
		return flow.Out("unavailable"), nil
	}
	note, err := t.Text(cfg.Note)
	if err != nil {
		return flow.Exit{}, err
	}
	if cfg.Message != nil {
		if err := cfg.Message.send(t); err != nil {
			return flow.Exit{}, err
		}
	}
	var handoff flow.Handoff
	err = t.Emit(func(id string) flow.Effect {
		handoff = flow.Handoff{ID: id, Node: t.NodeID(), Target: cfg.Target, Note: note, Pause: cfg.Pause}
		return handoff
	})
	if err != nil {
		return flow.Exit{}, err
	}
	until := t.World.Now.Add(cfg.Timeout)
	return t.Wait(flow.Wait{Kind: flow.WaitHandoff, ID: handoff.ID, Timer: t.SetTimer(until), Until: until}), nil
}

// Resume continues when a person has taken or closed the chat, or the time is over.
func (cfg *handoffConfig) Resume(t *flow.Turn, in flow.Input) (flow.Exit, error) {
	switch in.(type) {
	case flow.Assigned:
		if !t.Connected("assigned") {
			return t.Wait(t.Waited()), nil
		}
		return flow.Out("assigned"), nil
	case flow.HandoffClosed:
		return flow.Out("closed"), nil
	}
	t.EmitNow(flow.EndHandoff{ID: t.WaitedFor.ID})
	return t.TimedOut()
}

// open reports whether now is within the hours. Without hours it always is.
func (cfg *hoursConfig) open(now time.Time) bool {
	if cfg == nil {
		return true
	}
	var h values.Hours
	for day, spans := range cfg.Days {
		for _, s := range spans {
			if len(s) == 2 {
				h.Add([]string{day}, s[0], s[1])
			}
		}
	}
	return h.Contains(now.In(values.Location(cfg.Timezone, now.Location())))
}
