package flow

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// Arrival is a message of a contact as a trigger sees it.
type Arrival struct {
	Channel  string // the kind of line it came on: "provider-cloud"
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
	takes func(Arrival) bool
}

// Trigger returns the program's trigger; one that takes nothing for a
// function, which has none.
func (p *Program) Trigger() *Trigger {
	t := &Trigger{}
	if p.Start == nil {
		return t
	}
	c, is := p.Start.config.(*triggerConfig)
	if !is || p.Start.disabled {
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
func (t *Trigger) Match(a Arrival) (Rank, bool) {
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
		return []rule{{RankAny, func(Arrival) bool { return true }}}
	case "first_message":
		return []rule{{RankFirst, func(a Arrival) bool { return a.First }}}
	case "button":
		return []rule{{RankButton, func(a Arrival) bool { return a.Button != "" && (r.Payload == "" || r.Payload == a.Button) }}}
	case "referral":
		return []rule{{RankReferral, func(a Arrival) bool { return a.Referral != nil && (r.Payload == "" || r.Payload == *a.Referral) }}}
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
				out = append(out, rule{RankRegexp, func(a Arrival) bool { return re.MatchString(a.Text) }})
			}
			continue
		}
		word = r.fold(word)
		out = append(out, rule{RankKeyword, func(a Arrival) bool { return r.compare(r.fold(a.Text), word) }})
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
	if !r.CaseSensitive {
		word = "(?i)" + word
	}
	re, err := regexp.Compile(word)
	if err != nil {
		return nil
	}
	return re
}
