package flow

import (
	"maps"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// codeExtract is the code when nobody is there to find entities or intents.
const codeExtract = "extract.unavailable"

// extractTimeout is how long a model may take to extract.
const extractTimeout = 15 * time.Second

// Step looks for values.
func (c *extractConfig) Step(t *Turn) (Exit, error) {
	input, err := t.Text(c.Input)
	if err != nil {
		return Exit{}, err
	}
	locale, err := t.Text(c.Locale)
	if err != nil {
		return Exit{}, err
	}
	t.Note(map[string]any{"text": input}, nil)
	switch c.Method {
	case "regex":
		return c.found(t, c.match(input))
	case "ai":
		return t.call(Call{Kind: CallExtract, Timeout: extractTimeout, Request: ModelRequest{
			Model: c.Model, Input: input, JSON: true, Schema: c.Schema.Raw(), Repair: 1, Locale: locale,
		}})
	}
	if t.world.Extractor == nil {
		return Exit{}, &Error{Code: codeExtract, Message: "nobody is there to find what method " + c.Method + " looks for"}
	}
	if c.Method == "intent" {
		return c.intent(t, input, locale)
	}
	values, err := t.world.Extractor.Entities(input, c.Entities, locale, t.Now())
	if err != nil {
		return Exit{}, err
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
func (c *extractConfig) found(t *Turn, values map[string]any) (Exit, error) {
	if len(values) == 0 {
		return Out("nomatch"), nil
	}
	v, err := admit(values)
	if err != nil {
		return Exit{}, err
	}
	out := map[string]any{"values": v}
	maps.Copy(out, t.row.Out)
	t.Note(nil, out)
	if err := t.save(c.SaveTo, v); err != nil {
		return Exit{}, err
	}
	return Out("match"), nil
}

// intent leaves by what the text means, if that is clear.
func (c *extractConfig) intent(t *Turn, input, locale string) (Exit, error) {
	ranked, err := t.world.Extractor.Intent(c.Intents, input, locale)
	if err != nil {
		return Exit{}, err
	}
	if len(ranked) == 0 || ranked[0].Confidence < c.Threshold ||
		len(ranked) > 1 && ranked[0].Confidence-ranked[1].Confidence < c.Margin {
		return Out("nomatch"), nil
	}
	best := ranked[0]
	exit, err := c.found(t, map[string]any{"intent": best.ID, "confidence": best.Confidence})
	if err == nil && t.node.next["intent:"+best.ID] != nil {
		exit = Out("intent:" + best.ID)
	}
	return exit, err
}

// Resume takes what a model found.
func (c *extractConfig) Resume(t *Turn, in Input) (Exit, error) {
	done, ok := in.(EffectDone)
	if !ok {
		return Exit{}, ErrNotWaiting
	}
	if done.Err != nil {
		return Exit{}, done.Err
	}
	r, err := result[ModelResult](done)
	if err != nil {
		return Exit{}, err
	}
	t.Note(nil, traced(&r, nil))
	switch r.Finish {
	case FinishDone:
		return c.found(t, values.ObjectOf(r.Value))
	case FinishInvalid:
		return Exit{}, &Error{Code: codeSchema, Message: "the values do not fit the schema"}
	case FinishRefused:
		return Out("nomatch"), nil
	}
	return Exit{}, unexpected(r.Finish)
}
