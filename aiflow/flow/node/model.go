package node

import (
	"maps"
	"strings"
	"unicode/utf8"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// Codes of errors about a model's answer.
const (
	codeSchema  = "output.schema"
	codeNoReply = "agent.no_reply"
)

// Step asks the model.
func (cfg *assistantConfig) Step(t *flow.Turn) (flow.Exit, error) {
	r, err := cfg.request(t)
	if err != nil {
		return flow.Exit{}, err
	}
	t.Note(map[string]any{"model": cfg.Model, "input": r.Input}, nil)
	return t.Call(flow.Call{Kind: flow.CallAssistant, Timeout: cfg.Timeout, Request: r})
}

func (cfg *assistantConfig) request(t *flow.Turn) (flow.ModelRequest, error) {
	r := flow.ModelRequest{
		Message: values.TextOf(t.State.Input["id"]), Model: cfg.Model, FallbackModel: cfg.FallbackModel, Memory: cfg.Memory.asked(),
		Temperature: cfg.Temperature, MaxTokens: cfg.MaxOutputTokens,
		Locale: values.TextOf(values.ObjectOf(t.Env["contact"])["language"]), Spoken: cfg.Send && cfg.Output.Mode != "json" && t.World.Chat != nil,
	}
	cfg.Output.ask(&r)
	if cfg.Attachments {
		r.Attachments = t.State.Input["media"]
	}
	return r, prompt(t, &r, cfg.Instructions, cfg.Input)
}

// prompt renders the texts of a request to the model.
func prompt(t *flow.Turn, r *flow.ModelRequest, instructions, input flow.Text) (err error) {
	if r.Instructions, err = t.Text(instructions); err != nil {
		return err
	}
	if r.Input, err = t.Text(input); err != nil {
		return err
	}
	if !instructions.Literal() || !input.Literal() && !input.Message() {
		r.Filled, r.Authored, r.Said = true, instructions.Authored(), values.TextOf(t.State.Input["text"])
	}
	prompt := r.Instructions + "\x00" + r.Input
	r.Secret = values.HideText(prompt, t.Secrets()) != prompt
	return nil
}

func (cfg memoryConfig) asked() flow.Memory {
	return flow.Memory(cfg)
}

// ask sets the required form of the answer in a request.
func (cfg *outputConfig) ask(r *flow.ModelRequest) {
	if cfg.Mode != "json" {
		return
	}
	r.JSON, r.Repair = true, cfg.Repair
	r.Schema = cfg.Schema.Raw()
}

// Resume takes the answer, or retries.
func (cfg *assistantConfig) Resume(t *flow.Turn, in flow.Input) (flow.Exit, error) {
	done, ok := in.(flow.EffectDone)
	switch {
	case !ok:
		r, err := cfg.request(t)
		if err != nil {
			return flow.Exit{}, err
		}
		return t.Call(flow.Call{Kind: flow.CallAssistant, Timeout: cfg.Timeout, Request: r})
	case done.Err != nil:
		return t.Again(cfg.Retry, done.Err, false)
	}
	r, err := flow.Result[flow.ModelResult](done)
	if err != nil {
		return flow.Exit{}, err
	}
	t.Note(nil, traced(&r, nil))
	switch r.Finish {
	case flow.FinishDone:
		return answerModel(t, r, cfg.Output.Mode, cfg.Send, cfg.SaveTo)
	case flow.FinishInvalid:
		return flow.Out("invalid"), nil
	case flow.FinishRefused:
		return flow.Out("refused"), nil
	}
	return flow.Exit{}, unexpected(r.Finish)
}

func unexpected(f flow.Finish) *flow.Error {
	return &flow.Error{Code: "internal", Message: "the model finished unexpectedly: " + string(f)}
}

// answerModel saves and sends the answer of a model.
func answerModel(t *flow.Turn, r flow.ModelResult, mode string, send bool, saveTo string) (flow.Exit, error) {
	var v any = r.Text
	if mode == "json" {
		v = r.Value
	}
	v, err := values.Admit(v)
	if err != nil {
		return flow.Exit{}, err
	}
	t.Note(nil, traced(&r, map[string]any{"answer": v}))
	if err := t.Save(saveTo, v); err != nil {
		return flow.Exit{}, err
	}
	if send && mode != "json" && t.World.Chat != nil {
		if err := speak(t, r.Text); err != nil {
			return flow.Exit{}, err
		}
	}
	return flow.Out("out"), nil
}

// traced returns what a trace shows of a result, together with more. It is nil if
// there is nothing to show.
func traced(r *flow.ModelResult, more map[string]any) map[string]any {
	out := maps.Clone(more)
	if out == nil {
		out = map[string]any{}
	}
	if u := r.Usage; u != nil {
		usage := map[string]any{"calls": u.Calls, "inputTokens": u.InputTokens, "outputTokens": u.OutputTokens, "cost": nil}
		if u.Cost != nil {
			usage["cost"] = float64(*u.Cost) / 1000 // in micro-USD, as everywhere that it is shown
		}
		if u.Model != "" {
			usage["model"] = u.Model
		}
		out["usage"] = usage
	}
	if r.StopReason != "" {
		out["stopReason"] = r.StopReason
	}
	if len(r.Sources) > 0 {
		sources := make([]any, len(r.Sources))
		for i, s := range r.Sources {
			sources[i] = map[string]any{"file": s.File, "name": s.Name, "part": s.Part}
		}
		out["sources"] = sources
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// speak sends a text, split into several messages if it is long.
func speak(t *flow.Turn, s string) error {
	for _, part := range parted(s, maxText) {
		var m values.Members
		m.Text("type", "text")
		m.Text("text", part)
		if err := t.SendRaw(m.End(), "", 0); err != nil {
			return err
		}
	}
	return nil
}

// parted splits a text into parts of a maximum number of characters, at the end of
// a paragraph, a line or a word.
func parted(s string, limit int) (parts []string) {
	s = strings.TrimSpace(s)
	for utf8.RuneCountInString(s) > limit {
		head := string([]rune(s)[:limit])
		cut := len(head)
		for _, gap := range []string{"\n\n", "\n", " "} {
			if i := strings.LastIndex(head, gap); i > len(head)/2 {
				cut = i
				break
			}
		}
		parts = append(parts, strings.TrimSpace(s[:cut]))
		s = strings.TrimSpace(s[cut:])
	}
	if s != "" {
		parts = append(parts, s)
	}
	return parts
}

// memoryConfig configures what a model remembers.
type memoryConfig struct {
	Scope    string `json:"scope" default:"run" enum:"none,run,chat,contact" doc:"Which messages are remembered: none, those of the run, of the chat or of the contact."`
	Messages int    `json:"messages" default:"20" min:"0" max:"200" doc:"Maximum number of messages."`
	Tokens   int    `json:"tokens" default:"8000" min:"0" max:"1000000" doc:"Maximum number of tokens."`
	Summary  bool   `json:"summary" default:"false" doc:"Whether messages beyond the limits are summarized."`
}

// outputConfig configures the required form of a model's answer.
type outputConfig struct {
	Mode   string      `json:"mode" default:"text" enum:"text,json" doc:"text: the answer is a text; json: it is JSON that fits schema."`
	Schema flow.Schema `json:"schema" max:"32768" doc:"json: JSON Schema of the answer."`
	Repair int         `json:"repair" default:"1" min:"0" max:"2" doc:"How often the model may correct an answer that does not fit."`
}

func (cfg *outputConfig) check(c *flow.Checker, at ...any) {
	if cfg.Mode == "json" {
		c.Need(cfg.Schema.Present(), append(at, "schema")...)
	}
}
