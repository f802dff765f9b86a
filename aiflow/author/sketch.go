package author

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/trunklinehq/trunkline/aiflow/flow"
)

var (
	// asked finds what a description wants to know: "ask for the name, the city
	// and their e-mail".
	asked = regexp.MustCompile(`(?i)\bask(?:s|ing)?\s+(?:the\s+\w+\s+|them\s+|him\s+|her\s+|you\s+)?(?:for\s+|about\s+)?([^.;:!?\n]+)`)
	list  = regexp.MustCompile(`(?i)\s*(?:,|\band\b|\bthen\b)\s*`)
	small = regexp.MustCompile(`(?i)^(?:for|about|the|a|an|their|his|her|your|its|what|is|are)\s+`)
	human = regexp.MustCompile(`(?i)\b(?:hand\s?(?:off|over)|human|person|agent|staff|colleague|somebody|someone)\b`)
	other = regexp.MustCompile(`[^a-z0-9]+`)
)

// numeric are words for things that are numbers.
var numeric = regexp.MustCompile(`(?i)\b(?:age|number of|how many|guests|people|quantity|amount)\b`)

// maxQuestions is how many questions a sketch asks.
const maxQuestions = 10

// Sketch makes a small draft of a description without any model, so that
// a user without one sees what this is about: it asks for what the
// description says that it should ask for, thanks, and calls a person when one
// is mentioned. The same words always make the same draft.
func Sketch(w Request) json.RawMessage {
	nodes := map[string]any{}
	variables := map[string]any{}
	start := node{Type: "trigger", Config: map[string]any{"on": []any{map[string]any{"kind": "any_message"}}}}
	last, lastID := &start, "start"
	add := func(id string, n *node) {
		last.Next = map[string]string{"out": id}
		nodes[lastID] = *last
		last, lastID = n, id
	}
	wanted := things(w.Text)
	for i, thing := range wanted {
		name := strings.Trim(other.ReplaceAllString(strings.ToLower(thing), "_"), "_")
		name = strings.Trim(name[:min(len(name), 40)], "_")
		if name == "" || name[0] < 'a' || variables[name] != nil {
			name = fmt.Sprintf("answer_%d", i+1)
		}
		expect, kind := "text", "string"
		if numeric.MatchString(thing) {
			expect, kind = "number", "number"
		}
		variables[name] = map[string]any{"type": kind}
		add(fmt.Sprintf("ask%d", i+1), &node{Type: "question", Config: map[string]any{
			"prompt": map[string]any{"text": "Please tell us: " + thing}, "expect": expect, "saveTo": name,
		}})
	}
	text := "Hello! How can we help you?"
	if len(wanted) > 0 {
		text = "Thank you!"
	}
	add("thanks", &node{Type: "message", Config: map[string]any{"text": text}})
	if human.MatchString(w.Text) {
		add("person", &node{Type: "handoff", Config: map[string]any{}})
	}
	nodes[lastID] = *last
	draft, err := json.Marshal(map[string]any{
		"format": flow.Format, "kind": flow.KindFlow, "engine": flow.EngineFlow, "slug": w.Slug, "name": w.Name,
		"start": "start", "variables": variables, "nodes": nodes,
	})
	if err != nil {
		panic(err) // it is made of texts
	}
	return draft
}

type node struct {
	Type   string            `json:"type"`
	Config map[string]any    `json:"config"`
	Next   map[string]string `json:"next,omitempty"`
}

// things are what a description wants to know.
func things(text string) (out []string) {
	for _, m := range asked.FindAllStringSubmatch(text, -1) {
		for _, thing := range list.Split(m[1], -1) {
			thing = strings.TrimSpace(strings.NewReplacer("{", "", "}", "").Replace(strings.ToValidUTF8(thing, "")))
			for small.MatchString(thing) {
				thing = small.ReplaceAllString(thing, "")
			}
			if thing == "" || len(thing) > 60 || human.MatchString(thing) {
				continue
			}
			if out = append(out, thing); len(out) == maxQuestions {
				return out
			}
		}
	}
	return out
}
