package node

import (
	"errors"
	"maps"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// questionConfig is the configuration of a node that asks a question and reads the
// answer.
type questionConfig struct {
	Prompt       *messageConfig  `json:"prompt" doc:"The question, in the form of a message. If absent, the node only waits for an answer."`
	Expect       string          `json:"expect" default:"text" enum:"text,integer,number,phone,email,url,date,time,datetime,choice,boolean,location,image,file,any" doc:"Kind of answer that is expected."`
	Choices      []choiceConfig  `json:"choices" max:"20" doc:"choice: the choices that the contact can select."`
	Fuzzy        float64         `json:"fuzzy" default:"0.85" min:"0.5" max:"1" doc:"Minimum similarity of an answer to a choice. 1: equal except for case and accents."`
	Validate     flow.Expression `json:"validate" want:"boolean" scope:"answer" doc:"Condition on answer. If it is false, the answer is invalid."`
	Min          flow.Data       `json:"min" doc:"Minimum number, earliest date, or minimum number of characters of a text."`
	Max          flow.Data       `json:"max" doc:"Maximum number, latest date, or maximum number of characters of a text."`
	Retries      int             `json:"retries" default:"2" min:"0" max:"10" doc:"How often to ask again after an invalid answer."`
	RetryMessage flow.Text       `json:"retryMessage" max:"4096" doc:"Message after an invalid answer. Default: the prompt."`
	Timeout      time.Duration   `json:"timeout" min:"PT10S" max:"P30D" doc:"How long to wait for an answer. Default: the replyTimeout of the settings."`
	Debounce     time.Duration   `json:"debounce" default:"PT0S" max:"PT30S" doc:"How long to wait for further messages, which are joined into one answer."`
	SaveTo       string          `json:"saveTo" pattern:"variable" writes:"true" doc:"Name of the variable in which the answer is stored."`
	CancelWords  []string        `json:"cancelWords" max:"10" itemMin:"1" itemMax:"64" doc:"Answers with which the node continues at the output cancel."`
}

type choiceConfig struct {
	ID       string    `json:"id" required:"true" pattern:"id" doc:"Value of the answer, and name of the output choice:<id>."`
	Title    flow.Text `json:"title" max:"200" doc:"Text that the contact sees and may write. Default: the id."`
	Synonyms []string  `json:"synonyms" max:"20" itemMin:"1" itemMax:"200" doc:"Other texts that the contact may write for this choice."`
}

func questionType() flow.NodeType {
	return flow.NodeType{
		Name: "question", Group: "talk", Text: "Asks a question, waits for the answer and checks it.",
		Outputs: []flow.Output{
			{Name: "out", Text: "the answer is valid"},
			{Name: "choice:<id>", Text: "that choice was selected (if not connected: out)"},
			{Name: "invalid", Text: "no valid answer after all retries"},
			{Name: "timeout", Text: "no answer in time"},
			{Name: "cancel", Text: "the contact wrote one of the cancel words"},
			{Name: "error", Text: "the prompt could not be sent"},
		},
		Wait: "reply", Effect: "send",
		Errors: []string{"channel.window_closed", "channel.unsupported", "channel.rejected", "template.not_found"},
		Config: func() flow.Config { return &questionConfig{} },
	}
}

func (cfg *questionConfig) Outputs() []string {
	outs := []string{"out", "invalid", "timeout", "cancel", "error"}
	if cfg.Expect == "choice" {
		for _, c := range cfg.Choices {
			outs = append(outs, "choice:"+c.ID)
		}
	}
	return outs
}

func (cfg *questionConfig) Check(c *flow.Checker) {
	if cfg.Prompt != nil {
		cfg.Prompt.check(c, "prompt")
	}
	if cfg.Expect == "choice" {
		c.Need(len(cfg.Choices) > 0, "choices")
	} else if cfg.Choices != nil {
		c.Warn("question.unused", "choices have no effect unless expect is choice", "", "choices")
	}
	titles := newDistinct(c, "question.twice")
	for i, choice := range cfg.Choices {
		c.OwnID(choice.ID, "choices", i, "id")
		titles.text("title", choice.Title, []any{"choices", i, "title"})
	}
	cfg.checkBounds(c)
	c.Saves(cfg.SaveTo, values.AnswerTypes[cfg.Expect].Kind, "saveTo")
}

// measures maps the kinds of answers that min and max can bound to the kind of the
// bound.
var measures = map[string]string{
	"text": "integer", "integer": "number", "number": "number",
	"date": "date", "datetime": "datetime", "time": "clock",
}

func (cfg *questionConfig) checkBounds(c *flow.Checker) {
	for _, b := range []struct {
		name  string
		bound flow.Data
	}{{"min", cfg.Min}, {"max", cfg.Max}} {
		v, constant := b.bound.Constant()
		kind, bounded := measures[cfg.Expect]
		switch {
		case !b.bound.Present():
		case !bounded:
			c.Warn("question.unused", b.name+" has no effect on an answer of kind "+cfg.Expect, "", b.name)
		case constant && !isBound(v, kind):
			c.Problem("question.bound", "must be a "+kind+", because the answer is of kind "+cfg.Expect, "", b.name)
		}
	}
}

func isBound(v any, kind string) bool {
	if kind == "clock" {
		s, ok := v.(string)
		return ok && values.Patterns["clock"]().MatchString(s)
	}
	if _, text := v.(string); text && (kind == "number" || kind == "integer") {
		return false
	}
	v, err := values.Conform(v, kind)
	return err == nil && v != nil
}

func (cfg *questionConfig) Expects() string { return cfg.Expect }

func (cfg *questionConfig) Refer(c *flow.Checker, env *flow.Environment) {
	if cfg.Prompt != nil {
		cfg.Prompt.fits(c, env, "prompt")
	}
}

// Step asks and waits.
func (cfg *questionConfig) Step(t *flow.Turn) (flow.Exit, error) {
	if cfg.Prompt != nil {
		if err := cfg.Prompt.send(t); err != nil {
			return flow.Exit{}, err
		}
	}
	return cfg.wait(t, 0), nil
}

// wait waits for an answer; tries is the number of invalid answers so far.
func (cfg *questionConfig) wait(t *flow.Turn, tries int) flow.Exit {
	w := flow.Wait{Kind: flow.WaitReply, Tries: tries}
	timeout := cfg.Timeout
	if timeout == 0 {
		timeout = t.ReplyTimeout()
	}
	if timeout > 0 {
		w.Until = t.World.Now.Add(timeout)
		w.Timer = t.SetTimer(w.Until)
	}
	return t.Wait(w)
}

// Resume reads the answer.
func (cfg *questionConfig) Resume(t *flow.Turn, in flow.Input) (flow.Exit, error) {
	w := t.Waited()
	if _, ok := in.(flow.Reply); ok {
		if cfg.gathers(t) {
			return cfg.gather(t, w), nil
		}
	} else if len(w.Parts) == 0 {
		return t.TimedOut()
	}
	if len(w.Parts) > 0 {
		joinInput(t, w.Parts, in)
	}
	return cfg.answered(t, w)
}

// gathers reports whether further messages may belong to the answer.
func (cfg *questionConfig) gathers(t *flow.Turn) bool {
	m := t.State.Input
	return cfg.Debounce > 0 && m["reply"] == nil && m["media"] == nil && values.TextOf(m["text"]) != "" && !cfg.cancels(values.TextOf(m["text"]))
}

// maxParts is the maximum number of messages that form one answer.
const maxParts = 20

// gather keeps a part of the answer and waits for more.
func (cfg *questionConfig) gather(t *flow.Turn, w flow.Wait) flow.Exit {
	until := t.World.Now.Add(cfg.Debounce)
	parts := append(w.Parts[:len(w.Parts):len(w.Parts)], values.TextOf(t.State.Input["text"]))
	if len(parts) > maxParts {
		parts = parts[1:]
	}
	return t.Wait(flow.Wait{Kind: flow.WaitReply, Timer: t.SetTimer(until), Until: until, Tries: w.Tries, Parts: parts})
}

// joinInput joins the parts, and the text of in if it is a reply, to one message.
func joinInput(t *flow.Turn, parts []string, in flow.Input) {
	if _, ok := in.(flow.Reply); ok {
		if last := values.TextOf(t.State.Input["text"]); last != "" {
			parts = append(parts[:len(parts):len(parts)], last)
		}
	}
	joined := maps.Clone(t.State.Input)
	joined["text"] = values.InputBounds.Text(strings.Join(parts, "\n"))
	t.State.Input = joined
	t.Env["input"] = joined
}

func (cfg *questionConfig) cancels(answer string) bool {
	for _, word := range cfg.CancelWords {
		if fold(word) == fold(answer) {
			return true
		}
	}
	return false
}

// answered leaves with the answer, or asks again.
func (cfg *questionConfig) answered(t *flow.Turn, w flow.Wait) (flow.Exit, error) {
	said := words(t.State.Input)
	t.Note(map[string]any{"answer": cfg.shown(t, said)}, nil)
	if cfg.cancels(said) {
		return flow.Out("cancel"), nil
	}
	v, choice, ok := cfg.understand(t)
	if ok {
		var err error
		if ok, err = cfg.valid(t, v); err != nil {
			t.Row.Warning = "validate: " + t.Fault(err).Message
		}
	}
	if !ok {
		return cfg.invalid(t, w)
	}
	t.Note(nil, map[string]any{"value": cfg.shown(t, v)})
	if err := t.Save(cfg.SaveTo, v); err != nil {
		if e, ok := errors.AsType[*flow.Error](err); ok && e.Code == flow.CodeValueType {
			return cfg.invalid(t, w)
		}
		return flow.Exit{}, err
	}
	if choice != "" && t.Connected("choice:"+choice) {
		return flow.Out("choice:" + choice), nil
	}
	return flow.Out("out"), nil
}

// shown returns a value as the trace shows it.
func (cfg *questionConfig) shown(t *flow.Turn, v any) any {
	if cfg.SaveTo != "" && t.IsSecret(cfg.SaveTo) {
		return values.Masked
	}
	return v
}

// understand reads the message as the expected kind of answer. For a choice it also
// returns the id.
func (cfg *questionConfig) understand(t *flow.Turn) (v any, choice string, ok bool) {
	r := reader{message: t.State.Input, now: t.Now(), locale: localeOf(t), region: func() string { return region(t) }, answers: t.AnswerReader()}
	if cfg.Expect == "choice" {
		choice, ok = cfg.choose(t)
		return choice, choice, ok
	}
	v, ok = r.read(cfg.Expect)
	return v, "", ok
}

// valid checks the bounds of an answer and the question's own rule. An expression
// that fails makes the answer invalid.
func (cfg *questionConfig) valid(t *flow.Turn, v any) (bool, error) {
	for _, end := range []struct {
		bound flow.Data
		sign  int
	}{{cfg.Min, -1}, {cfg.Max, 1}} {
		ok, err := within(t, v, end.bound, end.sign)
		if err != nil || !ok {
			return false, err
		}
	}
	if !cfg.Validate.Present() {
		return true, nil
	}
	yes, err := t.EvalWith(cfg.Validate, "answer", v)
	if err != nil {
		return false, err
	}
	return expression.Truth(yes)
}

// within reports whether an answer is within a bound: the lower one (sign −1) or
// the upper one (1). For a text it counts characters, unless the bound is also a
// text, as for dates.
func within(t *flow.Turn, v any, bound flow.Data, sign int) (bool, error) {
	if !bound.Present() {
		return true, nil
	}
	end, err := t.Data(bound)
	if err != nil || end == nil {
		return err == nil, err
	}
	if end, err = values.Admit(end); err != nil {
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

// moments parses two dates, with or without times.
func moments(a, b string, zone *time.Location) (x, y time.Time, ok bool) {
	x, okX := moment(a, zone)
	y, okY := moment(b, zone)
	return x, y, okX && okY
}

// invalid asks again, or gives up.
func (cfg *questionConfig) invalid(t *flow.Turn, w flow.Wait) (flow.Exit, error) {
	if w.Tries >= cfg.Retries {
		return flow.Out("invalid"), nil
	}
	switch {
	case cfg.RetryMessage.Present():
		again, err := t.Text(cfg.RetryMessage)
		if err != nil {
			return flow.Exit{}, err
		}
		if err := speak(t, again); err != nil {
			return flow.Exit{}, err
		}
	case cfg.Prompt != nil:
		if err := cfg.Prompt.send(t); err != nil {
			return flow.Exit{}, err
		}
	}
	return cfg.wait(t, w.Tries+1), nil
}

// choose returns the choice that the message means.
func (cfg *questionConfig) choose(t *flow.Turn) (string, bool) {
	options := make([]option, len(cfg.Choices))
	for i, choice := range cfg.Choices {
		title, err := t.Text(choice.Title)
		if err != nil || title == "" {
			title = choice.ID
		}
		options[i] = option{choice.ID, title, choice.Synonyms}
	}
	return choose(t.State.Input, options, cfg.Fuzzy)
}

// localeOf returns the contact's language, else that of the document.
func localeOf(t *flow.Turn) string {
	if l := values.TextOf(values.ObjectOf(t.Env["contact"])["language"]); l != "" {
		return l
	}
	return t.Locale()
}
