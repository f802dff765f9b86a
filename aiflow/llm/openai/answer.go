package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/internal/wire"
)

// answer is the answer of a model, streamed or not.
type answer struct {
	model         string
	text, refusal strings.Builder
	calls         []*toolCall
	extras        map[string]*extra // data that only some servers have, such as reasoning
	finish        string
	usage         llm.Usage
}

type toolCall struct {
	index     wire.Number
	id, name  string
	arguments strings.Builder
}

// maxCalls exceeds the number of calls in any real answer.
const maxCalls = 128

var (
	errNoChoice  = errors.New("there is no choice")
	errManyCalls = errors.New("there are too many calls")
)

// whole reads an answer that is not streamed.
func (a *answer) whole(ctx context.Context, s *wire.API, r *chatRequest) error {
	var c completion
	if err := s.Post(ctx, chatPath, r, &c); err != nil {
		return err
	}
	a.model = string(c.Model)
	a.usage = usageOf(c.Usage)
	if len(c.Choices) == 0 {
		return errNoChoice
	}
	choice := &c.Choices[0]
	a.finish = cmp.Or(string(choice.FinishReason), "stop")
	a.text.WriteString(string(choice.Message.Content))
	a.refusal.WriteString(string(choice.Message.Refusal))
	a.extra(choice.Message.others)
	if len(choice.Message.ToolCalls) > maxCalls {
		return errManyCalls
	}
	for i, c := range choice.Message.ToolCalls {
		call := &toolCall{index: wire.Number(i), id: string(c.ID), name: string(c.Function.Name)}
		call.arguments.WriteString(argument(c.Function.Arguments))
		a.calls = append(a.calls, call)
	}
	return nil
}

// follow reads an answer from its stream.
func (a *answer) follow(ctx context.Context, s *wire.API, r *chatRequest, on func(string)) error {
	return s.Stream(ctx, chatPath, r, func(data []byte) error {
		var c completion
		if err := json.Unmarshal(data, &c); err != nil {
			return fmt.Errorf("reading the stream: %w", err)
		}
		if len(c.Error) > 0 && string(c.Error) != "null" {
			return wire.Refusal("", 0, nil, data)
		}
		return a.chunk(&c, on)
	})
}

func (a *answer) chunk(c *completion, on func(string)) error {
	a.model = cmp.Or(string(c.Model), a.model)
	if u := usageOf(c.Usage); u.Known {
		a.usage = u
	}
	for i := range c.Choices {
		choice := &c.Choices[i]
		if choice.Index != 0 {
			continue
		}
		if err := a.add(&choice.Delta); err != nil {
			return err
		}
		a.finish = cmp.Or(string(choice.FinishReason), a.finish)
		if part := string(choice.Delta.Content + choice.Delta.Refusal); part != "" {
			on(part)
		}
	}
	return nil
}

func (a *answer) add(d *message) error {
	a.text.WriteString(string(d.Content))
	a.refusal.WriteString(string(d.Refusal))
	a.extra(d.others)
	for _, c := range d.ToolCalls {
		call, err := a.call(c.Index, string(c.ID))
		if err != nil {
			return err
		}
		call.name += string(c.Function.Name)
		call.arguments.WriteString(argument(c.Function.Arguments))
	}
	return nil
}

// call returns the call that a delta belongs to: the last one with its index,
// unless that has another id. Some servers give all calls the index 0.
func (a *answer) call(index wire.Number, id string) (*toolCall, error) {
	for i := len(a.calls) - 1; i >= 0; i-- {
		if c := a.calls[i]; c.index == index && (id == "" || c.id == "" || c.id == id) {
			c.id = cmp.Or(c.id, id)
			return c, nil
		}
	}
	if len(a.calls) == maxCalls {
		return nil, errManyCalls
	}
	c := &toolCall{index: index, id: id}
	a.calls = append(a.calls, c)
	return c, nil
}

// argument returns a text, or the JSON that some servers send instead.
func argument(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text // also of null
	}
	return string(raw)
}

// extra is a member of a message that only some servers have.
type extra struct {
	text strings.Builder
	list []json.RawMessage
	last json.RawMessage
	kind byte // of its first part: '"', '[' or another
}

// add appends a delta: it concatenates texts and lists; of other values the last
// one counts.
func (x *extra) add(part json.RawMessage) {
	var text string
	var list []json.RawMessage
	switch {
	case x.kind == '"' && json.Unmarshal(part, &text) == nil:
		x.text.WriteString(text)
	case x.kind == '[' && json.Unmarshal(part, &list) == nil:
		x.list = append(x.list, list...)
	default:
		x.last = part
	}
}

func (x *extra) value() any {
	switch {
	case x.last != nil:
		return x.last
	case x.kind == '[':
		return x.list
	}
	return x.text.String()
}

func (a *answer) extra(members map[string]json.RawMessage) {
	for name, part := range members {
		if string(part) == "null" {
			continue
		}
		if a.extras == nil {
			a.extras = map[string]*extra{}
		}
		if a.extras[name] == nil {
			a.extras[name] = &extra{kind: part[0]}
		}
		a.extras[name].add(part)
	}
}

// encode encodes values that are always valid JSON.
func encode(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return b
}

// response converts the answer.
func (a *answer) response(call wire.Call) (*llm.Response, error) {
	call.Usage = a.usage
	res := &llm.Response{
		Message: llm.Message{Role: llm.RoleAssistant}, Stop: a.stop(), Usage: a.usage, Provider: call.Provider, Model: cmp.Or(a.model, call.Model),
	}
	text := a.text.String() + a.refusal.String()
	if text != "" {
		res.Message.Parts = []llm.Part{{Text: text}}
	}
	if res.Stop != llm.StopTools {
		return res, nil // incomplete calls are dropped
	}
	for i, c := range a.calls {
		if c.name == "" {
			return nil, call.Malformed("a call names no tool")
		}
		res.Message.Calls = append(res.Message.Calls, llm.ToolCall{
			ID: cmp.Or(c.id, fmt.Sprintf("call_%d", i)), Name: c.name, Arguments: cmp.Or(strings.TrimSpace(c.arguments.String()), "{}"),
		})
	}
	res.Message.Raw, res.Message.RawProvider = a.raw(res.Message), call.Provider
	return res, nil
}

func (a *answer) stop() llm.Stop {
	switch {
	case a.finish == "content_filter" || a.refusal.Len() > 0:
		return llm.StopRefused
	case a.finish == "length":
		return llm.StopLength
	case len(a.calls) > 0:
		return llm.StopTools
	}
	return llm.StopDone
}

// raw returns the message for the next request, including the server's own members:
// models that reason before they call a tool require their reasoning.
func (a *answer) raw(m llm.Message) json.RawMessage {
	out := map[string]any{}
	for name, x := range a.extras {
		out[name] = x.value()
	}
	out["role"], out["content"] = "assistant", nil
	if text := m.Text(); text != "" {
		out["content"] = text
	}
	calls := make([]any, len(m.Calls))
	for i, c := range m.Calls {
		calls[i] = map[string]any{"id": c.ID, "type": "function", "function": map[string]any{"name": c.Name, "arguments": object(c.Arguments)}}
	}
	out["tool_calls"] = calls
	return encode(out)
}

// usageOf converts the usage; it is not known if raw is no object. OpenAI counts reasoning as part of the output.
// Servers that count it separately include it in the total.
func usageOf(raw json.RawMessage) llm.Usage {
	var u *usage
	if json.Unmarshal(raw, &u) != nil || u == nil {
		return llm.Usage{}
	}
	out := llm.Usage{
		Known: true, Input: u.PromptTokens.Count(), Output: u.CompletionTokens.Count(), Reasoning: u.CompletionTokensDetails.ReasoningTokens.Count(),
	}
	if out.Reasoning > out.Output || out.Reasoning > 0 && u.TotalTokens.Count() == out.Input+out.Output+out.Reasoning {
		out.Output += out.Reasoning
	}
	out.CacheRead = min(u.PromptTokensDetails.CachedTokens.Count(), out.Input)
	out.CacheWrite = min(u.PromptTokensDetails.CacheWriteTokens.Count(), out.Input-out.CacheRead)
	return out
}
