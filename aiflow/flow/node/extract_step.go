package node

import (
	"maps"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// codeExtract is the code when nobody is there to find entities or intents.
const codeExtract = "extract.unavailable"

// extractTimeout is how long a model may take to extract.
const extractTimeout = 15 * time.Second

// Step looks for values.
func (c *extractConfig) Step(t *flow.Turn) (flow.Exit, error) {
	input, err := t.Text(c.Input)
	if err != nil {
		return flow.Exit{}, err
	}
	locale, err := t.Text(c.Locale)
	if err != nil {
		return flow.Exit{}, err
	}
	t.Note(map[string]any{"text": input}, nil)
	switch c.Method {
	case "regex":
		return c.found(t, c.match(input))
	case "ai":
		return t.Call(flow.Call{Kind: flow.CallExtract, Timeout: extractTimeout, Request: flow.ModelRequest{
			Model: c.Model, Input: input, JSON: true, Schema: c.Schema.Raw(), Repair: 1, Locale: locale,
		}})
	}
	if t.World.Extractor == nil {
		return flow.Exit{}, &flow.Error{Code: codeExtract, Message: "nobody is there to find what method " + c.Method + " looks for"}
	}
	if c.Method == "intent" {
		return c.intent(t, input, locale)
	}
	values, err := t.World.Extractor.Entities(input, c.Entities, locale, t.Now())
	if err != nil {
		return flow.Exit{}, err
	}
	return c.found(t, values)
}

// match are the named groups of the pattern, or {match} without any.
func (c *extractConfig) match(input string) map[string]any {
	if c.regexp == nil {
		return nil
	}
	m := c.regexp.FindStringSubmatch(input)
	if m == nil {
		return nil
	}
	out := map[string]any{}
	for i, name := range c.regexp.SubexpNames() {
		if name != "" {
			out[name] = m[i]
		}
	}
	if len(out) == 0 {
		out["match"] = m[0]
	}
	return out
}

// found leaves with what there is.
func (c *extractConfig) found(t *flow.Turn, values map[string]any) (flow.Exit, error) {
	if len(values) == 0 {
		return flow.Out("nomatch"), nil
	}
	v, err := flow.Admit(values)
	if err != nil {
		return flow.Exit{}, err
	}
	out := map[string]any{"values": v}
	maps.Copy(out, t.Row.Out)
	t.Note(nil, out)
	if err := t.Save(c.SaveTo, v); err != nil {
		return flow.Exit{}, err
	}
	return flow.Out("match"), nil
}

// intent leaves by what the text means, if that is clear.
func (c *extractConfig) intent(t *flow.Turn, input, locale string) (flow.Exit, error) {
	ranked, err := t.World.Extractor.Intent(c.Intents, input, locale)
	if err != nil {
		return flow.Exit{}, err
	}
	if len(ranked) == 0 || ranked[0].Confidence < c.Threshold ||
		len(ranked) > 1 && ranked[0].Confidence-ranked[1].Confidence < c.Margin {
		return flow.Out("nomatch"), nil
	}
	best := ranked[0]
	exit, err := c.found(t, map[string]any{"intent": best.ID, "confidence": best.Confidence})
	if err == nil && t.Node.Next["intent:"+best.ID] != nil {
		exit = flow.Out("intent:" + best.ID)
	}
	return exit, err
}

// Resume takes what a model found.
func (c *extractConfig) Resume(t *flow.Turn, in flow.Input) (flow.Exit, error) {
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
		return c.found(t, values.ObjectOf(r.Value))
	case flow.FinishInvalid:
		return flow.Exit{}, &flow.Error{Code: codeSchema, Message: "the values do not fit the schema"}
	case flow.FinishRefused:
		return flow.Out("nomatch"), nil
	}
	return flow.Exit{}, unexpected(r.Finish)
}
