package node

import (
	"maps"
	"slices"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow"
)

// handoffConfig gives the chat to a person.
type handoffConfig struct {
	Target        string         `json:"target" max:"200" doc:"Free text for the inbox: who should take it."`
	Note          flow.Text      `json:"note" max:"2000" doc:"What that person should know."`
	Message       *messageConfig `json:"message" doc:"What the contact is told."`
	Pause         bool           `json:"pause" default:"true" doc:"Whether the bot is silent in the chat meanwhile."`
	Timeout       time.Duration  `json:"timeout" default:"P3D" min:"PT1M" max:"P90D" doc:"How long it waits."`
	BusinessHours *hoursConfig   `json:"businessHours" doc:"When somebody is there; else the node leaves through unavailable."`
}

type hoursConfig struct {
	Timezone string                `json:"timezone" max:"64" doc:"Without it that of the settings."`
	Days     map[string][][]string `json:"days" required:"true" keys:"day" max:"7" doc:"By day the hours: {\"mon\": [[\"09:00\", \"18:00\"]]}"`
}

func handoffType() flow.NodeType {
	return flow.NodeType{
		Name: "handoff", Group: "talk", Text: "Gives the chat to a person and waits.",
		Outputs: []flow.Output{
			{Name: "assigned", Text: "somebody took the chat (not wired: it waits for closed)"},
			{Name: "closed", Text: "the person has closed the conversation"},
			{Name: "unavailable", Text: "outside of the business hours"},
			{Name: "timeout", Text: "nobody closed it in time"},
			{Name: "error", Text: "it could not be handed over"},
		},
		Pass: "closed", Wait: "handoff", Effect: "handoff",
		Errors: []string{"channel.window_closed", "channel.unsupported", "channel.rejected"},
		Config: func() flow.Config { return &handoffConfig{} },
	}
}

func (*handoffConfig) Outputs() []string {
	return []string{"assigned", "closed", "unavailable", "timeout", "error"}
}

func (h *handoffConfig) Check(c *flow.Checker) {
	if h.Message != nil {
		h.Message.check(c, "message")
	}
	if h.BusinessHours == nil {
		return
	}
	c.Timezone(h.BusinessHours.Timezone, "businessHours", "timezone")
	for _, day := range slices.Sorted(maps.Keys(h.BusinessHours.Days)) {
		for i, span := range h.BusinessHours.Days[day] {
			if len(span) != 2 || !flow.Patterns["clock"].MatchString(span[0]) || !isClosing(span[1]) || span[0] >= span[1] {
				c.Problem("handoff.hours", "is no pair of times, the earlier one first", `as ["09:00", "18:00"]`, "businessHours", "days", day, i)
			}
		}
	}
}

// isClosing accepts the end of a day besides its times.
func isClosing(s string) bool { return s == "24:00" || flow.Patterns["clock"].MatchString(s) }
