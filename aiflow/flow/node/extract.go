package node

import (
	"regexp"
	"slices"
	"strings"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
)

// extractConfig takes values out of a text.
type extractConfig struct {
	Input     flow.Text   `json:"input" default:"{{ input.text }}" max:"4096" doc:"The text."`
	Method    string      `json:"method" required:"true" enum:"regex,entity,intent,ai" doc:"How."`
	Pattern   string      `json:"pattern" max:"1000" doc:"regex: RE2; its named groups become fields."`
	Entities  []string    `json:"entities" max:"32" doc:"entity: what to look for; dictionary:<extractor id> for one's own words."`
	Intents   string      `json:"intents" max:"64" doc:"intent: id of the extractor that knows them."`
	Threshold float64     `json:"threshold" default:"0.5" min:"0" max:"1" doc:"intent: how sure it must be."`
	Margin    float64     `json:"margin" default:"0.1" min:"0" max:"1" doc:"intent: by how much the best must lead."`
	Schema    flow.Schema `json:"schema" max:"16384" doc:"ai: JSON Schema of the values."`
	Model     string      `json:"model" max:"128" pattern:"model" doc:"ai: provider/model; without it the first that is set up."`
	Locale    flow.Text   `json:"locale" default:"{{ contact.language }}" max:"200" doc:"Of the text, as de-DE."`
	SaveTo    string      `json:"saveTo" pattern:"variable" writes:"true" doc:"Variable that takes the values."`

	regexp *regexp.Regexp
}

func extractType() flow.NodeType {
	return flow.NodeType{
		Name: "extract", Group: "data", Text: "Takes values out of a text: with a pattern, by kind, by intent or with a model.",
		Outputs: []flow.Output{
			{Name: "match", Text: "something was found"},
			{Name: "nomatch", Text: "nothing was"},
			{Name: "intent:<id>", Text: "that intent (not wired: match)"},
			{Name: "error", Text: "it could not look"},
		},
		Pass: "nomatch", Effect: "llm",
		Errors: []string{"llm.timeout", "llm.rate_limited", "budget.exceeded", "output.schema", "extract.unavailable"},
		Config: func() flow.Config { return &extractConfig{} },
	}
}

func (e *extractConfig) Outputs() []string {
	outs := []string{"match", "nomatch", "error"}
	if e.Method == "intent" {
		outs = append(outs, "intent:*")
	}
	return outs
}

// entityKinds are what method entity can look for, dictionaries aside.
var entityKinds = []string{
	"email", "url", "phone", "number", "ordinal", "money", "percentage", "date", "time", "datetime", "duration", "boolean",
	"quantity", "document", "location",
}

func (e *extractConfig) Check(c *flow.Checker) {
	switch e.Method {
	case "regex":
		if c.Need(e.Pattern != "", "pattern"); e.Pattern != "" {
			e.regexp = c.Regexp(e.Pattern, "pattern")
		}
	case "entity":
		c.Need(len(e.Entities) > 0, "entities")
	case "intent":
		c.Need(e.Intents != "", "intents")
	case "ai":
		c.Need(e.Schema.Present(), "schema")
	}
	c.Saves(e.SaveTo, expression.Map, "saveTo")
	for i, kind := range e.Entities {
		if id, own := strings.CutPrefix(kind, "dictionary:"); !slices.Contains(entityKinds, kind) && (!own || id == "") {
			c.Problem("extract.entity", "is nothing to look for", "one of "+strings.Join(entityKinds, ", ")+", dictionary:<id>", "entities", i)
		}
	}
}
