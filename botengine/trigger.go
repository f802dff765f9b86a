package botengine

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/trunklinehq/trunkline/internal/jsonscan"
)

// What can start a bot, in the words that are written and read beside its
// draft. In the draft itself it is the configuration of the trigger node.
const (
	TriggerAlways   = "always"  // any message
	TriggerKeyword  = "keyword" // a message that is one of the keywords
	TriggerRegexp   = "regex"   // a message that a regular expression matches (RE2)
	TriggerFirst    = "first_message"
	TriggerButton   = "button"   // a button or a list row is chosen
	TriggerReferral = "referral" // the contact comes from an advertisement or a link
	TriggerSchedule = "schedule"
	TriggerManual   = "manual" // nothing but a run by hand
)

// Triggers are all of them.
func Triggers() []string {
	return []string{
		TriggerAlways, TriggerKeyword, TriggerRegexp, TriggerFirst, TriggerButton, TriggerReferral, TriggerSchedule, TriggerManual,
	}
}

// Trigger is a view of a draft's trigger node.
type Trigger struct {
	First    string   // "manual" if nothing starts it
	All      []string // never nil
	Keywords []string // of all keywords and regular expressions
}

// rule is what this view reads of a rule of the trigger node, and writes.
type rule struct {
	Kind     string   `json:"kind"`
	Match    string   `json:"match,omitempty"`
	Keywords []string `json:"keywords,omitempty"`
}

func (r rule) name() string {
	switch {
	case r.Kind == "any_message":
		return TriggerAlways
	case r.Kind == TriggerKeyword && r.Match == TriggerRegexp:
		return TriggerRegexp
	}
	return r.Kind
}

// triggerOf reads a draft, which may be any JSON object.
func triggerOf(draft json.RawMessage) Trigger {
	t := Trigger{First: TriggerManual, All: []string{}}
	_, node := triggerNode(draft)
	for element := range jsonscan.Elements(jsonscan.Get(jsonscan.Get(node, "config"), "on")) {
		var r rule
		if json.Unmarshal(element, &r) != nil || r.Kind == "" {
			continue
		}
		t.All = append(t.All, r.name())
		if r.Kind == TriggerKeyword {
			t.Keywords = append(t.Keywords, r.Keywords...)
		}
	}
	if len(t.All) > 0 {
		t.First = t.All[0]
	}
	return t
}

// triggerNode finds the trigger node of a draft; nil if there is none.
func triggerNode(draft []byte) (id string, node []byte) {
	for name, n := range jsonscan.Members(jsonscan.Get(draft, "nodes")) {
		if string(jsonscan.Get(n, "type")) == `"trigger"` {
			return string(name), n
		}
	}
	return "", nil
}

// edit checks a draft and writes into it what starts the bot. An empty trigger
// leaves it as it is.
func (s *Service) edit(draft json.RawMessage, trigger string, keywords []string) (json.RawMessage, error) {
	if err := s.store.CheckDraft("flow", draft); err != nil {
		return nil, err
	}
	if trigger == "" {
		if keywords == nil {
			return draft, nil
		}
		if trigger = triggerOf(draft).First; trigger != TriggerRegexp {
			trigger = TriggerKeyword
		}
	}
	if err := checkTrigger(trigger); err != nil {
		return nil, err
	}
	worded := trigger == TriggerKeyword || trigger == TriggerRegexp
	if !worded && keywords != nil {
		return nil, &Invalid{Field: "keywords", Message: "are only allowed for the triggers keyword and regex"}
	}
	if worded && keywords == nil {
		keywords = triggerOf(draft).Keywords
	}
	r := rule{Kind: trigger, Keywords: keywords}
	switch trigger {
	case TriggerAlways:
		r.Kind = "any_message"
	case TriggerRegexp:
		r.Kind, r.Match = TriggerKeyword, TriggerRegexp
	}
	return withRule(draft, r)
}

func checkTrigger(trigger string) error {
	if !slices.Contains(Triggers(), trigger) {
		return &Invalid{Field: "trigger", Message: "must be one of " + strings.Join(Triggers(), ", ")}
	}
	return nil
}

// object is a JSON object of which some members are replaced.
type object map[string]json.RawMessage

func (o object) set(name string, value any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	o[name] = raw
	return nil
}

// get reads a member that is an object; one that is missing is empty.
func (o object) get(name string) (object, error) {
	if o[name] == nil {
		return object{}, nil
	}
	var inner object
	if err := json.Unmarshal(o[name], &inner); err != nil || inner == nil {
		return nil, &Invalid{Field: "trigger", Message: "cannot be written: " + name + " of the flow is no object"}
	}
	return inner, nil
}

// withRule makes r the only rule of a draft's trigger node. A draft without
// one gets one.
func withRule(draft json.RawMessage, r rule) (json.RawMessage, error) {
	var doc object
	if err := json.Unmarshal(draft, &doc); err != nil {
		return nil, &Invalid{Field: "flow", Message: "must be a JSON object"}
	}
	nodes, err := doc.get("nodes")
	if err != nil {
		return nil, err
	}
	id, raw := triggerNode(draft)
	if raw == nil {
		id = freeID(nodes)
		nodes[id] = json.RawMessage(`{"type":"trigger"}`)
	}
	node, err := nodes.get(id)
	if err != nil {
		return nil, err
	}
	config, err := node.get("config")
	if err != nil {
		return nil, err
	}
	if err := config.set("on", []rule{r}); err != nil {
		return nil, err
	}
	if err := node.set("config", config); err != nil {
		return nil, err
	}
	if err := nodes.set(id, node); err != nil {
		return nil, err
	}
	if err := doc.set("nodes", nodes); err != nil {
		return nil, err
	}
	if raw == nil {
		if err := doc.set("start", id); err != nil {
			return nil, err
		}
	}
	out, err := json.Marshal(doc)
	if err != nil {
		return nil, fmt.Errorf("writing a draft: %w", err)
	}
	return out, nil
}

// freeID is an id for a trigger node that no node has.
func freeID(nodes object) string {
	id := "start"
	for i := 2; nodes[id] != nil; i++ {
		id = fmt.Sprintf("start%d", i)
	}
	return id
}
