package llmtest

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/trunklinehq/trunkline/aiflow/llm"
)

// openAI implements the API of OpenAI.
//
// Source: https://platform.openai.com/docs/api-reference/chat
type openAI struct{}

type openAIRequest struct {
	Model               string            `json:"model"`
	Messages            []json.RawMessage `json:"messages"`
	MaxTokens           int               `json:"max_tokens"`
	MaxCompletionTokens int               `json:"max_completion_tokens"`
	Temperature         *float64          `json:"temperature"`
	Stream              bool              `json:"stream"`
	StreamOptions       struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	Tools []struct {
		Function struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
	ToolChoice     json.RawMessage `json:"tool_choice"`
	ResponseFormat struct {
		JSONSchema struct {
			Schema json.RawMessage `json:"schema"`
		} `json:"json_schema"`
	} `json:"response_format"`
}

type openAIMessage struct {
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	ToolCalls []struct {
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
	ToolCallID string `json:"tool_call_id"`
}

type openAIPart struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	ImageURL struct {
		URL string `json:"url"`
	} `json:"image_url"`
	InputAudio struct {
		Data   string `json:"data"`
		Format string `json:"format"`
	} `json:"input_audio"`
	File struct {
		Filename string `json:"filename"`
		FileData string `json:"file_data"`
	} `json:"file"`
}

func (openAI) read(body []byte) (*llm.Request, stream, error) {
	var in openAIRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, stream{}, fmt.Errorf("reading the request: %w", err)
	}
	out := &llm.Request{
		Model: in.Model, MaxTokens: max(in.MaxTokens, in.MaxCompletionTokens), Temperature: in.Temperature, Schema: in.ResponseFormat.JSONSchema.Schema,
	}
	for _, t := range in.Tools {
		out.Tools = append(out.Tools, llm.ToolSpec{Name: t.Function.Name, Description: t.Function.Description, Schema: t.Function.Parameters})
	}
	if err := json.Unmarshal(in.ToolChoice, &out.Choice); err != nil || out.Choice == "auto" {
		out.Choice = llm.ChoiceAuto
	}
	for _, raw := range in.Messages {
		if err := addOpenAI(out, raw); err != nil {
			return nil, stream{}, err
		}
	}
	return out, stream{in.Stream, in.StreamOptions.IncludeUsage}, check(out)
}

// addOpenAI adds a message to a request. Each result of a turn is a message of its
// own.
func addOpenAI(out *llm.Request, raw json.RawMessage) error {
	var in openAIMessage
	if err := json.Unmarshal(raw, &in); err != nil {
		return fmt.Errorf("reading a message: %w", err)
	}
	parts, err := openAIParts(in.Content)
	if err != nil {
		return err
	}
	m := llm.Message{Role: llm.Role(in.Role), Parts: parts}
	switch in.Role {
	case "system", "developer":
		out.System += m.Text()
		return nil
	case "user":
	case "assistant":
		for _, c := range in.ToolCalls {
			m.Calls = append(m.Calls, llm.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments})
		}
		m.Raw, m.RawProvider = raw, "openai"
	case "tool":
		result := llm.ToolResult{CallID: in.ToolCallID, Content: m.Text()}
		if n := len(out.Messages); n > 0 && out.Messages[n-1].Role == llm.RoleTool {
			out.Messages[n-1].Results = append(out.Messages[n-1].Results, result)
			return nil
		}
		m.Parts, m.Results = nil, []llm.ToolResult{result}
	default:
		return fmt.Errorf("there is no role %q", in.Role)
	}
	out.Messages = append(out.Messages, m)
	return nil
}

func openAIParts(content json.RawMessage) (out []llm.Part, err error) {
	if len(content) == 0 || string(content) == "null" {
		return nil, nil
	}
	var text string
	if json.Unmarshal(content, &text) == nil {
		return []llm.Part{{Text: text}}, nil
	}
	var parts []openAIPart
	if err := json.Unmarshal(content, &parts); err != nil {
		return nil, fmt.Errorf("reading the parts of a message: %w", err)
	}
	for _, p := range parts {
		var part llm.Part
		switch p.Type {
		case "text":
			part.Text = p.Text
		case "image_url":
			part, err = dataURL(p.ImageURL.URL)
		case "input_audio":
			part.MediaType = map[string]string{"wav": "audio/wav", "mp3": "audio/mpeg"}[p.InputAudio.Format]
			part.Data, err = base64.StdEncoding.DecodeString(p.InputAudio.Data)
		case "file":
			part, err = dataURL(p.File.FileData)
			part.Name = p.File.Filename
		default:
			err = fmt.Errorf("there is no part of type %q", p.Type)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, part)
	}
	return out, nil
}

func dataURL(u string) (llm.Part, error) {
	head, data, ok := strings.Cut(strings.TrimPrefix(u, "data:"), ";base64,")
	if !ok {
		return llm.Part{}, errors.New("a file is not a data URL")
	}
	b, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return llm.Part{}, fmt.Errorf("reading a file: %w", err)
	}
	return llm.Part{MediaType: head, Data: b}, nil
}

var openAIStops = map[llm.Stop]string{
	llm.StopDone: "stop", llm.StopTools: "tool_calls", llm.StopLength: "length", llm.StopRefused: "content_filter",
}

func (openAI) whole(r *llm.Response) any {
	m := map[string]any{}
	_ = json.Unmarshal(r.Message.Raw, &m) // data that only this provider has
	m["role"], m["content"] = "assistant", nil
	if text := r.Message.Text(); text != "" {
		m["content"] = text
	}
	if calls := openAICalls(r.Message.Calls); len(calls) > 0 {
		m["tool_calls"] = calls
	}
	out := map[string]any{
		"id": "chatcmpl-1", "object": "chat.completion", "created": 0, "model": r.Model,
		"choices": []any{map[string]any{"index": 0, "message": m, "finish_reason": openAIStops[r.Stop], "logprobs": nil}},
	}
	if r.Usage.Known {
		out["usage"] = openAIUsage(r.Usage)
	}
	return out
}

func openAICalls(calls []llm.ToolCall) (out []any) {
	for _, c := range calls {
		out = append(out, map[string]any{"id": c.ID, "type": "function", "function": map[string]any{"name": c.Name, "arguments": c.Arguments}})
	}
	return out
}

func openAIUsage(u llm.Usage) any {
	return map[string]any{
		"prompt_tokens": u.Input, "completion_tokens": u.Output, "total_tokens": u.Input + u.Output,
		"prompt_tokens_details":     map[string]any{"cached_tokens": u.CacheRead, "cache_write_tokens": u.CacheWrite},
		"completion_tokens_details": map[string]any{"reasoning_tokens": u.Reasoning},
	}
}

func (openAI) parts(r *llm.Response, st stream) (before, after []event) {
	chunk := func(choices []any, usage any) event {
		return event{data: map[string]any{
			"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0, "model": r.Model, "choices": choices, "usage": usage,
		}}
	}
	delta := func(d map[string]any, finish any) event {
		return chunk([]any{map[string]any{"index": 0, "delta": d, "finish_reason": finish}}, nil)
	}
	all := []event{delta(map[string]any{"role": "assistant", "content": ""}, nil)}
	var own map[string]any
	if json.Unmarshal(r.Message.Raw, &own) == nil {
		for name, v := range own {
			if text, ok := v.(string); ok {
				all = append(all, delta(map[string]any{name: half(text)}, nil))
				v = strings.TrimPrefix(text, half(text))
			}
			all = append(all, delta(map[string]any{name: v}, nil))
		}
	}
	for _, part := range words(r.Message.Text()) {
		all = append(all, delta(map[string]any{"content": part}, nil))
	}
	call := func(i int, c map[string]any) event {
		c["index"] = i
		return delta(map[string]any{"tool_calls": []any{c}}, nil)
	}
	var rest []event
	for i, c := range r.Message.Calls {
		first, second := half(c.Arguments), strings.TrimPrefix(c.Arguments, half(c.Arguments))
		all = append(all, call(i, map[string]any{"id": c.ID, "type": "function", "function": map[string]any{"name": c.Name, "arguments": first}}))
		rest = append(rest, call(i, map[string]any{"function": map[string]any{"arguments": second}}))
	}
	middle := len(all)
	if len(rest) == 0 {
		middle = (len(all) + 1) / 2
	}
	all = append(append(all, rest...), delta(map[string]any{}, openAIStops[r.Stop]))
	if st.usage && r.Usage.Known {
		all = append(all, chunk([]any{}, openAIUsage(r.Usage)))
	}
	all = append(all, event{data: "[DONE]"})
	return all[:middle], all[middle:]
}

func (openAI) refusal(status int, code llm.Code, message string) any {
	names := map[llm.Code]string{
		llm.CodeTooLong: "context_length_exceeded", llm.CodeFiltered: "content_filter", llm.CodeForbidden: "invalid_api_key",
		llm.CodeNoModel: "model_not_found", llm.CodeRateLimited: "rate_limit_exceeded",
	}
	var name any
	if n, ok := names[code]; ok {
		name = n
	}
	kind := "invalid_request_error"
	if status >= 500 {
		kind = "server_error"
	}
	return map[string]any{"error": map[string]any{"message": message, "type": kind, "param": nil, "code": name}}
}

func (openAI) broken(body any) event { return event{data: body} }
