package node

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
	"github.com/trunklinehq/trunkline/internal/pattern"
)

// extractConfig is the configuration of a node that extracts values from a text.
type extractConfig struct {
	Input     flow.Text   `json:"input" default:"{{ input.text }}" max:"4096" doc:"The text to extract values from."`
	Method    string      `json:"method" required:"true" enum:"regex,entity,intent,ai" doc:"How to extract: with a regular expression, by entity, by intent, or with a model."`
	Pattern   string      `json:"pattern" max:"1000" doc:"regex: the regular expression (RE2). Its named groups become fields."`
	Entities  []string    `json:"entities" max:"32" doc:"entity: types of values to find, or dictionary:<extractor id> for your own words."`
	Intents   string      `json:"intents" max:"64" doc:"intent: id of the extractor that has the intents."`
	Threshold float64     `json:"threshold" default:"0.5" min:"0" max:"1" doc:"intent: minimum confidence of the intent."`
	Margin    float64     `json:"margin" default:"0.1" min:"0" max:"1" doc:"intent: minimum difference of confidence between the best and the second intent."`
	Schema    flow.Schema `json:"schema" max:"16384" doc:"ai: JSON Schema of the values."`
	Model     string      `json:"model" max:"128" pattern:"model" doc:"ai: the model, as provider/model. Default: the first configured model."`
	Locale    flow.Text   `json:"locale" default:"{{ contact.language }}" max:"200" doc:"Language of the text, for example de-DE."`
	SaveTo    string      `json:"saveTo" pattern:"variable" writes:"true" doc:"Name of the variable in which the values are stored."`

	regexp *regexp.Regexp
}

func extractType() flow.NodeType {
	return flow.NodeType{
		Name: "extract", Group: "data", Text: "Extracts values from a text with a pattern, by type, by intent or with a model.",
		Outputs: []flow.Output{
			{Name: "match", Text: "a value was found"},
			{Name: "nomatch", Text: "nothing was found"},
			{Name: "intent:<id>", Text: "the intent was found (if not connected: match)"},
			{Name: "error", Text: "the extraction failed"},
		},
		Pass: "nomatch", Effect: "llm",
		Errors: []string{"llm.timeout", "llm.rate_limited", "budget.exceeded", "output.schema", "extract.unavailable"},
		Config: func() flow.Config { return &extractConfig{} },
	}
}

func (cfg *extractConfig) Outputs() []string {
	outs := []string{"match", "nomatch", "error"}
	if cfg.Method == "intent" {
		outs = append(outs, "intent:*")
	}
	return outs
}

// entityKinds are the values that method entity can find, besides dictionaries.
var entityKinds = []string{
	"email", "url", "phone", "number", "ordinal", "money", "percentage", "date", "time", "datetime", "duration", "boolean",
	"quantity", "document", "location",
}

func (cfg *extractConfig) Check(c *flow.Checker) {
	switch cfg.Method {
	case "regex":
		if c.Need(cfg.Pattern != "", "pattern"); cfg.Pattern != "" {
			cfg.regexp = c.Regexp(cfg.Pattern, "pattern")
		}
	case "entity":
		c.Need(len(cfg.Entities) > 0, "entities")
	case "intent":
		c.Need(cfg.Intents != "", "intents")
	case "ai":
		c.Need(cfg.Schema.Present(), "schema")
	}
	c.Saves(cfg.SaveTo, expression.Map, "saveTo")
	for i, kind := range cfg.Entities {
		if id, own := strings.CutPrefix(kind, "dictionary:"); !slices.Contains(entityKinds, kind) && (!own || id == "") {
			c.Problem("extract.entity", "is not an entity", "one of "+strings.Join(entityKinds, ", ")+", dictionary:<id>", "entities", i)
		}
	}
}

func (cfg *extractConfig) Refer(c *flow.Checker, env *flow.Environment) {
	if cfg.Method == "intent" {
		c.Extractor(cfg.Intents, "intent", env, "intents")
	}
	for i, kind := range cfg.Entities {
		if id, own := strings.CutPrefix(kind, "dictionary:"); own {
			c.Extractor(id, "entity", env, "entities", i)
		}
	}
	if cfg.Model != "" {
		c.Model(cfg.Model, env, "model")
	}
}

// codeExtract is the code when the engine cannot find entities or intents.
const codeExtract = "extract.unavailable"

// extractTimeout is how long a model may take to extract.
const extractTimeout = 15 * time.Second

// Step extracts values.
func (cfg *extractConfig) Step(t *flow.Turn) (flow.Exit, error) {
	input, err := t.Text(cfg.Input)
	if err != nil {
		return flow.Exit{}, err
	}
	locale, err := t.Text(cfg.Locale)
	if err != nil {
		return flow.Exit{}, err
	}
	t.Note(map[string]any{"text": input}, nil)
	switch cfg.Method {
	case "regex":
		return cfg.found(t, cfg.match(input))
	case "ai":
		return t.Call(flow.Call{Kind: flow.CallExtract, Timeout: extractTimeout, Request: flow.ModelRequest{
			Model: cfg.Model, Input: input, JSON: true, Schema: cfg.Schema.Raw(), Repair: 1, Locale: locale,
		}})
	}
	if t.World.Extractor == nil {
		return flow.Exit{}, &flow.Error{Code: codeExtract, Message: "this program has no extractor for method " + cfg.Method}
	}
	if cfg.Method == "intent" {
		return cfg.intent(t, input, locale)
	}
	values, err := t.World.Extractor.Entities(input, cfg.Entities, locale, t.Now())
	if err != nil {
		return flow.Exit{}, err
	}
	return cfg.found(t, values)
}

// match returns the named groups of the pattern, or {match} if there are none.
func (cfg *extractConfig) match(input string) map[string]any {
	if cfg.regexp == nil {
		return nil
	}
	m := cfg.regexp.FindStringSubmatch(pattern.Searched(input))
	if m == nil {
		return nil
	}
	out := map[string]any{}
	for i, name := range cfg.regexp.SubexpNames() {
		if name != "" {
			out[name] = m[i]
		}
	}
	if len(out) == 0 {
		out["match"] = m[0]
	}
	return out
}

// found leaves with the found values.
func (cfg *extractConfig) found(t *flow.Turn, found map[string]any) (flow.Exit, error) {
	if len(found) == 0 {
		return flow.Out("nomatch"), nil
	}
	v, err := values.Admit(found)
	if err != nil {
		return flow.Exit{}, err
	}
	out := map[string]any{"values": v}
	maps.Copy(out, t.Row.Out)
	t.Note(nil, out)
	if err := t.Save(cfg.SaveTo, v); err != nil {
		return flow.Exit{}, err
	}
	return flow.Out("match"), nil
}

// intent leaves by the intent of the text, if that is clear.
func (cfg *extractConfig) intent(t *flow.Turn, input, locale string) (flow.Exit, error) {
	ranked, err := t.World.Extractor.Intent(cfg.Intents, input, locale)
	if err != nil {
		return flow.Exit{}, err
	}
	if len(ranked) == 0 || ranked[0].Confidence < cfg.Threshold ||
		len(ranked) > 1 && ranked[0].Confidence-ranked[1].Confidence < cfg.Margin {
		return flow.Out("nomatch"), nil
	}
	best := ranked[0]
	exit, err := cfg.found(t, map[string]any{"intent": best.ID, "confidence": best.Confidence})
	if err == nil && t.Connected("intent:"+best.ID) {
		exit = flow.Out("intent:" + best.ID)
	}
	return exit, err
}

// Resume takes the values that a model found.
func (cfg *extractConfig) Resume(t *flow.Turn, in flow.Input) (flow.Exit, error) {
	done, ok := in.(flow.EffectDone)
	if !ok {
		return flow.Exit{}, flow.ErrNotWaiting
	}
	if done.Err != nil {
		return flow.Exit{}, done.Err
	}
	r, err := flow.Result[flow.ModelResult](done)
	if err != nil {
		return flow.Exit{}, err
	}
	t.Note(nil, traced(&r, nil))
	switch r.Finish {
	case flow.FinishDone:
		return cfg.found(t, values.ObjectOf(r.Value))
	case flow.FinishInvalid:
		return flow.Exit{}, &flow.Error{Code: codeSchema, Message: "the values do not fit the schema"}
	case flow.FinishRefused:
		return flow.Out("nomatch"), nil
	}
	return flow.Exit{}, unexpected(r.Finish)
}
