package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/respjson"
	"github.com/openai/openai-go/v3/packages/ssestream"

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
	index     int64
	id, name  string
	arguments strings.Builder
}

// maxCalls exceeds the number of calls in any real answer.
const maxCalls = 128

var (
	errNoChoice  = errors.New("there is no choice")
	errManyCalls = errors.New("there are too many calls")
)

// read reads an answer that is not streamed.
func (a *answer) read(c *openai.ChatCompletion) error {
	a.model = c.Model
	if c.JSON.Usage.Valid() {
		a.usage = usageOf(c.Usage)
	}
	if len(c.Choices) == 0 {
		return errNoChoice
	}
	choice := c.Choices[0]
	a.finish = or(choice.FinishReason, "stop")
	a.text.WriteString(choice.Message.Content)
	a.refusal.WriteString(choice.Message.Refusal)
	a.extra(choice.Message.JSON.ExtraFields)
	if len(choice.Message.ToolCalls) > maxCalls {
		return errManyCalls
	}
	for i, c := range choice.Message.ToolCalls {
		call := &toolCall{index: int64(i), id: c.ID, name: c.Function.Name}
		call.arguments.WriteString(argument(c.Function.JSON.Arguments))
		a.calls = append(a.calls, call)
	}
	return nil
}

// follow reads an answer from its stream.
func (a *answer) follow(s *ssestream.Stream[openai.ChatCompletionChunk], on func(string)) error {
	defer s.Close() //nolint:errcheck // it was read completely, or is given up
	for s.Next() {
		chunk := s.Current()
		a.model = or(chunk.Model, a.model)
		if chunk.JSON.Usage.Valid() {
			a.usage = usageOf(chunk.Usage)
		}
		for _, choice := range chunk.Choices {
			if choice.Index != 0 {
				continue
			}
			if err := a.add(choice.Delta); err != nil {
				return err
			}
			a.finish = or(choice.FinishReason, a.finish)
			if part := choice.Delta.Content + choice.Delta.Refusal; part != "" {
				on(part)
			}
		}
	}
	return s.Err()
}

func (a *answer) add(d openai.ChatCompletionChunkChoiceDelta) error {
	a.text.WriteString(d.Content)
	a.refusal.WriteString(d.Refusal)
	a.extra(d.JSON.ExtraFields)
	for _, c := range d.ToolCalls {
		call, err := a.call(c.Index, c.ID)
		if err != nil {
			return err
		}
		call.name += c.Function.Name
		call.arguments.WriteString(argument(c.Function.JSON.Arguments))
	}
	return nil
}

// call returns the call that a delta belongs to: the last one with its index,
// unless that has another id. Some servers give all calls the index 0.
func (a *answer) call(index int64, id string) (*toolCall, error) {
	for i := len(a.calls) - 1; i >= 0; i-- {
		if c := a.calls[i]; c.index == index && (id == "" || c.id == "" || c.id == id) {
			c.id = or(c.id, id)
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
func argument(f respjson.Field) string {
	raw := f.Raw()
	var text string
	if raw == "null" {
		return ""
	}
	if json.Unmarshal([]byte(raw), &text) == nil {
		return text
	}
	return raw
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

func (a *answer) extra(fields map[string]respjson.Field) {
	for name, f := range fields {
		part := json.RawMessage(f.Raw())
		if !json.Valid(part) || string(part) == "null" {
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
		Message: llm.Message{Role: llm.RoleAssistant}, Stop: a.stop(), Usage: a.usage, Provider: call.Provider, Model: or(a.model, call.Model),
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
			ID: or(c.id, fmt.Sprintf("call_%d", i)), Name: c.name, Arguments: or(strings.TrimSpace(c.arguments.String()), "{}"),
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

// usageOf converts the usage. OpenAI counts reasoning as part of the output.
// Servers that count it separately include it in the total.
func usageOf(u openai.CompletionUsage) llm.Usage {
	out := llm.Usage{
		Known: true, Input: max(0, u.PromptTokens), Output: max(0, u.CompletionTokens), Reasoning: max(0, u.CompletionTokensDetails.ReasoningTokens),
	}
	if out.Reasoning > out.Output || out.Reasoning > 0 && u.TotalTokens == out.Input+out.Output+out.Reasoning {
		out.Output += out.Reasoning
	}
	out.CacheRead = min(max(0, u.PromptTokensDetails.CachedTokens), out.Input)
	out.CacheWrite = min(max(0, u.PromptTokensDetails.CacheWriteTokens), out.Input-out.CacheRead)
	return out
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
