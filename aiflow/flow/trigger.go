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

// triggerConfig says what starts a flow.
type triggerConfig struct {
	On       []triggerRule `json:"on" max:"20" doc:"What starts the flow; any one of them is enough."`
	Channels []string      `json:"channels" max:"20" doc:"Types of references on which it listens, such as provider-cloud; none: all."`
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

// TriggerType returns the type of the node that starts a flow.
func TriggerType() NodeType {
	return NodeType{
		Name: "trigger", Group: "flow", Text: "Starts the flow. Every flow has exactly one, and nothing leads to it.",
		Outputs: []Output{{"out", "what the flow begins with"}},
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
		c.Problem("value.regex", fmt.Sprintf("the regular expressions repeat too much: they need %d instructions of the %d they may have together", size, maxKeywordPatterns), "", "on")
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

// Schedule says at which times a trigger starts its flow.
type Schedule struct {
	Cron     string // minute, hour, day, month and weekday
	Timezone string // whose clocks count, as Europe/Berlin
}

// Next is the first time after another at which the schedule comes; false: it
// never does. A time that clocks leave out when they are set forward comes when
// they are set; one that they show twice comes the first time, unless the
// schedule names every hour, which then has two of them.
func (s Schedule) Next(after time.Time) (time.Time, bool) {
	fine := true
	c := parseCron(s.Cron, func(string, string) { fine = false })
	if !fine {
		return time.Time{}, false
	}
	return c.next(after, values.Location(s.Timezone, time.UTC))
}

// Schedules are the times at which the trigger starts its flow.
func (t *Trigger) Schedules() []Schedule { return t.schedules }

// Schedules are the times at which the trigger of a document starts it, which
// may refer to what is not there any more; none if it does not compile.
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

// Step continues: what starts a flow is looked at before it starts.
func (*triggerConfig) Step(*Turn) (Exit, error) { return Out("out"), nil }

// Inbound is a message of a contact as a trigger sees it.
type Inbound struct {
	Channel  string // the kind of reference it came on: "provider-cloud"
	Group    bool
	First    bool // the contact's first message in its chat
	Text     string
	Button   string  // the id of the button or list row that was chosen; "": none
	Referral *string // the payload of the advertisement or link that led here; nil: none did
}

// Rank says how narrow the rule is that took an arrival: of two flows with
// the same priority the one with the lower rank answers.
type Rank int

// The ranks, from the narrowest rule to the widest.
const (
	RankButton Rank = iota
	RankKeyword
	RankRegexp
	RankReferral
	RankFirst
	RankAny
)

// Trigger is what a program's trigger node says, ready to be asked about
// messages. It does not change.
type Trigger struct {
	Priority int           // the higher one answers; -100..100
	Cooldown time.Duration // how long it stays silent in a chat after it was started there
	WhenBusy string        // "ignore", "interrupt" or "queue"

	channels []string
	groups   bool
	kinds    []string
	rules    []rule

	schedules []Schedule
}

// rule takes arrivals, or does not.
type rule struct {
	rank  Rank
	takes func(Inbound) bool
}

// Trigger returns the program's trigger; one that takes nothing for a
// function, which has none.
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

// Kinds are what the trigger listens to, in the order of its node and each
// once: the kinds of its rules, but "always" for any_message and "regex" for
// keywords that are regular expressions.
func (t *Trigger) Kinds() []string { return slices.Clone(t.kinds) }

// kind is a rule in one word.
func (r triggerRule) kind() string {
	switch {
	case r.Kind == "any_message":
		return "always"
	case r.Kind == "keyword" && r.Match == "regex":
		return "regex"
	}
	return r.Kind
}

// Narrowest is the rank of the narrowest rule that takes messages: [RankAny]
// if none does.
func (t *Trigger) Narrowest() Rank {
	if len(t.rules) == 0 {
		return RankAny
	}
	return t.rules[0].rank
}

// Match says whether the trigger takes an arrival, and by how narrow a rule.
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

// rules are those of a message; schedules, events and calls of the API take
// none.
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

// words are the rules of keywords, one for each. White space around a text
// does not count.
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

// fold makes texts alike that the rule does not tell apart.
func (r triggerRule) fold(text string) string {
	text = strings.TrimSpace(text)
	if r.CaseSensitive {
		return text
	}
	return strings.ToLower(text)
}

// pattern is nil for what is no regular expression, which no compiled
// document has.
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
