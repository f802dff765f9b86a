package flow

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
	"github.com/trunklinehq/trunkline/internal/pattern"
)

// triggerConfig is the configuration of a node that starts a flow.
type triggerConfig struct {
	On       []triggerRule `json:"on" max:"20" doc:"Events that start the flow. Any one of them is enough."`
	Channels []string      `json:"channels" max:"20" doc:"Types of references that can start the flow, for example provider-cloud. If empty, all types."`
	Groups   bool          `json:"groups" default:"false" doc:"Whether messages in groups start the flow, too."`
	Cooldown time.Duration `json:"cooldown" default:"PT0S" max:"P30D" doc:"How long after a start in a chat the flow does not start there again."`
	Priority int           `json:"priority" default:"0" min:"-100" max:"100" doc:"Priority among the flows and bots that could answer. The highest one answers."`
	WhenBusy string        `json:"whenBusy" default:"ignore" enum:"ignore,interrupt,queue" doc:"What happens to an event while a run is active in the chat."`
}

type triggerRule struct {
	Kind          string   `json:"kind" required:"true" enum:"keyword,any_message,first_message,button,referral,schedule,api,manual,event" doc:"Kind of event."`
	Keywords      []string `json:"keywords" max:"50" itemMin:"1" itemMax:"64" doc:"Words or, with match regex, regular expressions (RE2)."`
	Match         string   `json:"match" default:"exact" enum:"exact,contains,starts,regex" doc:"How to compare a text with the keywords."`
	CaseSensitive bool     `json:"caseSensitive" default:"false" doc:"Whether upper and lower case differ."`
	Payload       string   `json:"payload" max:"1000" doc:"Payload of the button or the referral. If empty, any payload."`
	Cron          string   `json:"cron" max:"200" doc:"Schedule, as minute, hour, day, month and weekday."`
	Timezone      string   `json:"timezone" max:"64" doc:"Time zone of cron. Default: that of the settings."`
	Event         string   `json:"event" max:"64" doc:"Name of the event."`
}

// TriggerType returns the type of the node that starts a flow.
func TriggerType() NodeType {
	return NodeType{
		Name: "trigger", Group: "flow", Text: "Starts the flow. Every flow has exactly one trigger.",
		Outputs: []Output{{"out", "the flow starts"}},
		Config:  func() Config { return &triggerConfig{} },
	}
}

func (*triggerConfig) Outputs() []string { return []string{"out"} }

// maxKeywordPatterns bounds the instructions of all regular expressions of a
// trigger together: each message is held against every one of them.
const maxKeywordPatterns = 5000

func (t *triggerConfig) Check(c *Checker) {
	size := 0
	for i, r := range t.On {
		switch r.Kind {
		case "keyword":
			c.Need(len(r.Keywords) > 0, "on", i, "keywords")
			if r.Match == "regex" {
				for k, word := range r.Keywords {
					if c.Regexp(word, "on", i, "keywords", k) != nil {
						_, n, _ := pattern.Compile(r.source(word))
						size += n
					}
				}
			}
		case "schedule":
			r.checkCron(c, i)
		case "event":
			c.Need(r.Event != "", "on", i, "event")
		}
		c.Timezone(r.Timezone, "on", i, "timezone")
	}
	if size > maxKeywordPatterns {
		c.Problem("value.regex", fmt.Sprintf("the regular expressions repeat too much: they need %d instructions, and all together may have %d", size, maxKeywordPatterns), "", "on")
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
		c.Problem("trigger.cron", "has a day that never comes", "for example the 31st of February", at...)
	}
}

// Schedule is a schedule on which a trigger starts its flow.
type Schedule struct {
	Cron     string // minute, hour, day, month and weekday
	Timezone string // time zone of the schedule, such as Europe/Berlin
}

// Next returns the first time of the schedule after another; false: there is none.
// A time that is skipped when clocks go forward occurs at the moment of the change.
// A time that occurs twice counts only the first time, unless the schedule names
// every hour.
func (s Schedule) Next(after time.Time) (time.Time, bool) {
	fine := true
	c := parseCron(s.Cron, func(string, string) { fine = false })
	if !fine {
		return time.Time{}, false
	}
	return c.next(after, values.Location(s.Timezone, time.UTC))
}

// Schedules returns the schedules on which the trigger starts its flow.
func (t *Trigger) Schedules() []Schedule { return t.schedules }

// Schedules returns the schedules of a document's trigger. The document may refer
// to things that no longer exist. If it does not compile there are none.
func (t *Types) Schedules(document []byte) []Schedule {
	d, _ := Decode(document)
	if d == nil {
		return nil
	}
	if p := t.compiled(d).program; p != nil {
		return p.Trigger().Schedules()
	}
	return nil
}

// Step continues: the trigger has matched before the flow starts.
func (*triggerConfig) Step(*Turn) (Exit, error) { return Out("out"), nil }

// Inbound is a message of a contact as seen by a trigger.
type Inbound struct {
	Channel  string // the kind of its reference: "provider-cloud"
	Group    bool
	First    bool // the contact's first message in its chat
	Text     string
	Button   string  // id of the chosen button or list row; "": none
	Referral *string // payload of the advertisement or link that led here; nil: none
}

// Rank is the specificity of the rule that matched a message. Of two flows with the
// same priority the one with the lower rank answers.
type Rank int

// The ranks, from the most specific rule to the most general.
const (
	RankButton Rank = iota
	RankKeyword
	RankRegexp
	RankReferral
	RankFirst
	RankAny
)

// Trigger matches messages against the rules of a program's trigger node. It is
// immutable.
type Trigger struct {
	Priority int           // the higher one answers; -100..100
	Cooldown time.Duration // how long it stays silent in a chat after a start there
	WhenBusy string        // "ignore", "interrupt" or "queue"

	channels []string
	groups   bool
	kinds    []string
	rules    []rule

	schedules []Schedule
}

// rule matches messages.
type rule struct {
	rank  Rank
	takes func(Inbound) bool
}

// Trigger returns the program's trigger. That of a function matches nothing.
func (p *Program) Trigger() *Trigger {
	t := &Trigger{}
	if p.start == nil {
		return t
	}
	c, is := p.start.config.(*triggerConfig)
	if !is || p.start.disabled {
		return t
	}
	t.Priority, t.Cooldown, t.WhenBusy = c.Priority, c.Cooldown, c.WhenBusy
	t.channels, t.groups = c.Channels, c.Groups
	for _, on := range c.On {
		t.rules = append(t.rules, on.rules()...)
		if on.Kind == "schedule" {
			t.schedules = append(t.schedules, Schedule{on.Cron, values.Location(on.Timezone, p.location).String()})
		}
		if kind := on.kind(); !slices.Contains(t.kinds, kind) {
			t.kinds = append(t.kinds, kind)
		}
	}
	slices.SortStableFunc(t.rules, func(a, b rule) int { return int(a.rank - b.rank) })
	return t
}

// Kinds returns the kinds of the trigger's rules, each once, in the order of its
// node. It has "always" for any_message, and "regex" for keywords that are regular
// expressions.
func (t *Trigger) Kinds() []string { return slices.Clone(t.kinds) }

// kind returns the name of a rule for [Trigger.Kinds].
func (r triggerRule) kind() string {
	switch {
	case r.Kind == "any_message":
		return "always"
	case r.Kind == "keyword" && r.Match == "regex":
		return "regex"
	}
	return r.Kind
}

// Narrowest returns the rank of the most specific rule for messages: [RankAny] if
// there is none.
func (t *Trigger) Narrowest() Rank {
	if len(t.rules) == 0 {
		return RankAny
	}
	return t.rules[0].rank
}

// Match reports whether the trigger matches a message, and the rank of the rule.
func (t *Trigger) Match(a Inbound) (Rank, bool) {
	if a.Group && !t.groups || len(t.channels) > 0 && !slices.Contains(t.channels, a.Channel) {
		return 0, false
	}
	for _, r := range t.rules {
		if r.takes(a) {
			return r.rank, true
		}
	}
	return 0, false
}

// rules returns the rules for messages. Schedules, events and API calls have none.
func (r triggerRule) rules() []rule {
	switch r.Kind {
	case "any_message":
		return []rule{{RankAny, func(Inbound) bool { return true }}}
	case "first_message":
		return []rule{{RankFirst, func(a Inbound) bool { return a.First }}}
	case "button":
		return []rule{{RankButton, func(a Inbound) bool { return a.Button != "" && (r.Payload == "" || r.Payload == a.Button) }}}
	case "referral":
		return []rule{{RankReferral, func(a Inbound) bool { return a.Referral != nil && (r.Payload == "" || r.Payload == *a.Referral) }}}
	case "keyword":
		return r.words()
	}
	return nil
}

// words returns one rule for each keyword. White space around a text does not
// count.
func (r triggerRule) words() []rule {
	var out []rule
	for _, word := range r.Keywords {
		if r.Match == "regex" {
			if re := r.pattern(word); re != nil {
				out = append(out, rule{RankRegexp, func(a Inbound) bool { return re.MatchString(pattern.Searched(a.Text)) }})
			}
			continue
		}
		word = r.fold(word)
		out = append(out, rule{RankKeyword, func(a Inbound) bool { return r.compare(r.fold(a.Text), word) }})
	}
	return out
}

func (r triggerRule) compare(text, word string) bool {
	switch r.Match {
	case "contains":
		return strings.Contains(text, word)
	case "starts":
		return strings.HasPrefix(text, word)
	}
	return text == word
}

// fold normalizes a text as the rule compares it.
func (r triggerRule) fold(text string) string {
	text = strings.TrimSpace(text)
	if r.CaseSensitive {
		return text
	}
	return strings.ToLower(text)
}

// pattern returns nil for an invalid regular expression, which no compiled document
// has.
func (r triggerRule) pattern(word string) *regexp.Regexp {
	re, _, err := pattern.Compile(r.source(word))
	if err != nil {
		return nil
	}
	return re
}

// source is a keyword that is a regular expression, as it is compiled.
func (r triggerRule) source(word string) string {
	if r.CaseSensitive {
		return word
	}
	return "(?i)" + word
}
