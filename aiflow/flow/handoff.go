package flow

import (
	"maps"
	"slices"
	"time"
)

// handoffConfig gives the chat to a person.
type handoffConfig struct {
	Target        string         `json:"target" max:"200" doc:"Free text for the inbox: who should take it."`
	Note          Text           `json:"note" max:"2000" doc:"What that person should know."`
	Message       *messageConfig `json:"message" doc:"What the contact is told."`
	Pause         bool           `json:"pause" default:"true" doc:"Whether the bot is silent in the chat meanwhile."`
	Timeout       time.Duration  `json:"timeout" default:"P3D" min:"PT1M" max:"P90D" doc:"How long it waits."`
	BusinessHours *hoursConfig   `json:"businessHours" doc:"When somebody is there; else the node leaves through unavailable."`
}

type hoursConfig struct {
	Timezone string                `json:"timezone" max:"64" doc:"Without it that of the settings."`
	Days     map[string][][]string `json:"days" required:"true" keys:"day" max:"7" doc:"By day the hours: {\"mon\": [[\"09:00\", \"18:00\"]]}"`
}

func handoffType() NodeType {
	return NodeType{
		Name: "handoff", Group: "talk", Text: "Gives the chat to a person and waits.",
		Outputs: []Output{
			{"assigned", "somebody took the chat (not wired: it waits for closed)"},
			{"closed", "the person has closed the conversation"},
			{"unavailable", "outside of the business hours"},
			{"timeout", "nobody closed it in time"},
			{"error", "it could not be handed over"},
		},
		Pass: "closed", Wait: "handoff", Effect: "handoff",
		Errors: []string{"channel.window_closed", "channel.unsupported", "channel.rejected"},
		Config: func() Config { return &handoffConfig{} },
	}
}

func (*handoffConfig) Outputs() []string {
	return []string{"assigned", "closed", "unavailable", "timeout", "error"}
}

func (h *handoffConfig) Check(c *Checker) {
	if h.Message != nil {
		h.Message.check(c, "message")
	}
	if h.BusinessHours == nil {
		return
	}
	c.timezone(h.BusinessHours.Timezone, "businessHours", "timezone")
	for _, day := range slices.Sorted(maps.Keys(h.BusinessHours.Days)) {
		for i, span := range h.BusinessHours.Days[day] {
			if len(span) != 2 || !patterns["clock"].MatchString(span[0]) || !isClosing(span[1]) || span[0] >= span[1] {
				c.Problem("handoff.hours", "is no pair of times, the earlier one first", `as ["09:00", "18:00"]`, "businessHours", "days", day, i)
			}
		}
	}
}

// isClosing accepts the end of a day besides its times.
func isClosing(s string) bool { return s == "24:00" || patterns["clock"].MatchString(s) }
