package flow

import "time"

// triggerConfig says what starts a flow.
type triggerConfig struct {
	On       []triggerRule `json:"on" max:"20" doc:"What starts the flow; any one of them is enough."`
	Channels []string      `json:"channels" max:"20" doc:"Kinds of lines on which it listens, as provider-cloud; none: all."`
	Groups   bool          `json:"groups" default:"false" doc:"Whether it also listens in groups."`
	Cooldown time.Duration `json:"cooldown" default:"PT0S" max:"P30D" doc:"How long it stays silent in a chat after it was started there."`
	Priority int           `json:"priority" default:"0" min:"-100" max:"100" doc:"Who answers when several could: the higher one."`
	WhenBusy string        `json:"whenBusy" default:"ignore" enum:"ignore,interrupt,queue" doc:"What happens while a run is active in the chat."`
}

type triggerRule struct {
	Kind          string   `json:"kind" required:"true" enum:"keyword,any_message,first_message,button,referral,schedule,api,manual,event" doc:"What it listens to."`
	Keywords      []string `json:"keywords" max:"50" itemMin:"1" itemMax:"64" doc:"Words, or regular expressions (RE2) with match regex."`
	Match         string   `json:"match" default:"exact" enum:"exact,contains,starts,regex" doc:"How a text is compared with the keywords."`
	CaseSensitive bool     `json:"caseSensitive" default:"false" doc:"Whether upper and lower case differ."`
	Payload       string   `json:"payload" max:"1000" doc:"Of the button or the referral; empty: any."`
	Cron          string   `json:"cron" max:"200" doc:"When a schedule starts it: minute, hour, day, month, weekday."`
	Timezone      string   `json:"timezone" max:"64" doc:"Of cron; without it that of the settings."`
	Event         string   `json:"event" max:"64" doc:"Name of the event."`
}

func TriggerType() NodeType {
	return NodeType{
		Name: "trigger", Group: "flow", Text: "Starts the flow. Every flow has exactly one, and nothing leads to it.",
		Outputs: []Output{{"out", "what the flow begins with"}},
		Config:  func() Config { return &triggerConfig{} },
	}
}

func (*triggerConfig) Outputs() []string { return []string{"out"} }

func (t *triggerConfig) Check(c *Checker) {
	for i, r := range t.On {
		switch r.Kind {
		case "keyword":
			c.Need(len(r.Keywords) > 0, "on", i, "keywords")
			if r.Match == "regex" {
				for k, word := range r.Keywords {
					c.Regexp(word, "on", i, "keywords", k)
				}
			}
		case "schedule":
			r.checkCron(c, i)
		case "event":
			c.Need(r.Event != "", "on", i, "event")
		}
		c.Timezone(r.Timezone, "on", i, "timezone")
	}
}

func (r triggerRule) checkCron(c *Checker, i int) {
	at := []any{"on", i, "cron"}
	c.Need(r.Cron != "", at...)
	if r.Cron == "" {
		return
	}
	fine := true
	times := parseCron(r.Cron, func(message, hint string) {
		fine = false
		c.Problem("trigger.cron", message, hint, at...)
	})
	if fine && !times.comes() {
		c.Problem("trigger.cron", "names a day that never comes", "as the 31st of February", at...)
	}
}
