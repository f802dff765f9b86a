package flow

import (
	"errors"
	"maps"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// Step asks and waits.
func (c *questionConfig) Step(t *Turn) (Exit, error) {
	if c.Prompt != nil {
		if err := c.Prompt.send(t); err != nil {
			return Exit{}, err
		}
	}
	return c.wait(t, 0), nil
}

// wait waits for an answer, after so many that did not fit.
func (c *questionConfig) wait(t *Turn, tries int) Exit {
	w := Wait{Kind: WaitReply, Tries: tries}
	timeout := c.Timeout
	if timeout == 0 {
		timeout = t.graph().replyTimeout
	}
	if timeout > 0 {
		w.Until = t.world.Now.Add(timeout)
		w.Timer = t.SetTimer(w.Until)
	}
	return t.Wait(w)
}

// Resume understands the answer.
func (c *questionConfig) Resume(t *Turn, in Input) (Exit, error) {
	w := t.Waited()
	if _, ok := in.(Reply); ok {
		if c.gathers(t) {
			return c.gather(t, w), nil
		}
	} else if len(w.Parts) == 0 {
		return t.timedOut()
	}
	if len(w.Parts) > 0 {
		joinInput(t, w.Parts, in)
	}
	return c.answered(t, w)
}

// gathers reports whether the message may be a part of the answer.
func (c *questionConfig) gathers(t *Turn) bool {
	m := t.State.Input
	return c.Debounce > 0 && m["reply"] == nil && m["media"] == nil && values.TextOf(m["text"]) != "" && !c.cancels(values.TextOf(m["text"]))
}

// maxParts is how many messages make one answer.
const maxParts = 20

// gather keeps a part of the answer and waits for more.
func (c *questionConfig) gather(t *Turn, w Wait) Exit {
	until := t.world.Now.Add(c.Debounce)
	parts := append(w.Parts[:len(w.Parts):len(w.Parts)], values.TextOf(t.State.Input["text"]))
	if len(parts) > maxParts {
		parts = parts[1:]
	}
	return t.Wait(Wait{Kind: WaitReply, Timer: t.SetTimer(until), Until: until, Tries: w.Tries, Parts: parts})
}

// joinInput makes one message of the parts, and of the text that in brought
// if it is a reply.
func joinInput(t *Turn, parts []string, in Input) {
	if _, ok := in.(Reply); ok {
		if last := values.TextOf(t.State.Input["text"]); last != "" {
			parts = append(parts[:len(parts):len(parts)], last)
		}
	}
	joined := maps.Clone(t.State.Input)
	joined["text"] = values.InputBounds.Text(strings.Join(parts, "\n"))
	t.State.Input = joined
	t.env["input"] = joined
}

func (c *questionConfig) cancels(answer string) bool {
	for _, word := range c.CancelWords {
		if fold(word) == fold(answer) {
			return true
		}
	}
	return false
}

// answered leaves with the answer, or asks again.
func (c *questionConfig) answered(t *Turn, w Wait) (Exit, error) {
	said := words(t.State.Input)
	t.Note(map[string]any{"answer": c.shown(t, said)}, nil)
	if c.cancels(said) {
		return Out("cancel"), nil
	}
	v, choice, ok := c.understand(t)
	if ok {
		var err error
		if ok, err = c.valid(t, v); err != nil {
			t.row.Warning = "validate: " + t.fault(err).Message
		}
	}
	if !ok {
		return c.invalid(t, w)
	}
	t.Note(nil, map[string]any{"value": c.shown(t, v)})
	if err := t.save(c.SaveTo, v); err != nil {
		var e *Error
		if errors.As(err, &e) && e.Code == codeValueType {
			return c.invalid(t, w)
		}
		return Exit{}, err
	}
	if choice != "" && t.node.next["choice:"+choice] != nil {
		return Out("choice:" + choice), nil
	}
	return Out("out"), nil
}

// shown is a value as the trace shows it.
func (c *questionConfig) shown(t *Turn, v any) any {
	if c.SaveTo != "" && t.graph().variables[c.SaveTo].Secret {
		return masked
	}
	return v
}

// understand reads the message as what the question expects. For a choice it
// returns its id too.
func (c *questionConfig) understand(t *Turn) (v any, choice string, ok bool) {
	r := reader{message: t.State.Input, now: t.Now(), locale: localeOf(t), region: func() string { return region(t) }, answers: t.graph().answers}
	if c.Expect == "choice" {
		choice, ok = c.choose(t)
		return choice, choice, ok
	}
	v, ok = r.read(c.Expect)
	return v, "", ok
}

// valid checks an answer's range and the question's own rule. An expression
// that fails does not let the answer pass.
func (c *questionConfig) valid(t *Turn, v any) (bool, error) {
	for _, end := range []struct {
		bound Data
		sign  int
	}{{c.Min, -1}, {c.Max, 1}} {
		ok, err := within(t, v, end.bound, end.sign)
		if err != nil || !ok {
			return false, err
		}
	}
	if !c.Validate.Present() {
		return true, nil
	}
	yes, err := t.evalWith(c.Validate, "answer", v)
	if err != nil {
		return false, err
	}
	return expression.Truth(yes)
}

// within reports whether an answer is not beyond a bound: too small (-1) or
// too large (1). Of a text its characters are counted, unless the bound is a
// text as well, as those of dates are.
func within(t *Turn, v any, bound Data, sign int) (bool, error) {
	if !bound.Present() {
		return true, nil
	}
	end, err := t.Data(bound)
	if err != nil || end == nil {
		return err == nil, err
	}
	if end, err = admit(end); err != nil {
		return false, err
	}
	if s, ok := v.(string); ok {
		if _, ok := toFloat(end); ok {
			v = len([]rune(s))
		} else if a, b, ok := moments(s, values.TextOf(end), t.Now().Location()); ok {
			return a.Compare(b) != sign, nil
		}
	}
	order, ok := compare(v, end)
	return ok && order != sign, nil
}

// moments reads two dates, with or without their times.
func moments(a, b string, zone *time.Location) (x, y time.Time, ok bool) {
	x, okX := moment(a, zone)
	y, okY := moment(b, zone)
	return x, y, okX && okY
}

// invalid asks again, or gives up.
func (c *questionConfig) invalid(t *Turn, w Wait) (Exit, error) {
	if w.Tries >= c.Retries {
		return Out("invalid"), nil
	}
	switch {
	case c.RetryMessage.Present():
		again, err := t.Text(c.RetryMessage)
		if err != nil {
			return Exit{}, err
		}
		if err := speak(t, again); err != nil {
			return Exit{}, err
		}
	case c.Prompt != nil:
		if err := c.Prompt.send(t); err != nil {
			return Exit{}, err
		}
	}
	return c.wait(t, w.Tries+1), nil
}

// choose finds the choice that the message means.
func (c *questionConfig) choose(t *Turn) (string, bool) {
	options := make([]option, len(c.Choices))
	for i, choice := range c.Choices {
		title, err := t.Text(choice.Title)
		if err != nil || title == "" {
			title = choice.ID
		}
		options[i] = option{choice.ID, title, choice.Synonyms}
	}
	return choose(t.State.Input, options, c.Fuzzy)
}

// locale is the contact's language, else that of the document.
func localeOf(t *Turn) string {
	if l := values.TextOf(values.ObjectOf(t.env["contact"])["language"]); l != "" {
		return l
	}
	return t.graph().locale
}
