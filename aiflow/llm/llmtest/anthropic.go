package llmtest

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/trunklinehq/trunkline/aiflow/llm"
)

// anthropic implements the API of Anthropic.
//
// Source: https://platform.claude.com/docs/en/api/messages and
// https://platform.claude.com/docs/en/build-with-claude/streaming
type anthropic struct{}

type anthropicRequest struct {
	Model       string          `json:"model"`
	MaxTokens   int             `json:"max_tokens"`
	Temperature *float64        `json:"temperature"`
	Stream      bool            `json:"stream"`
	System      json.RawMessage `json:"system"`
	Messages    []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
	Tools []struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		InputSchema json.RawMessage `json:"input_schema"`
	} `json:"tools"`
	ToolChoice struct {
		Type string `json:"type"`
	} `json:"tool_choice"`
	OutputConfig struct {
		Format struct {
			Schema json.RawMessage `json:"schema"`
		} `json:"format"`
	} `json:"output_config"`
}

type anthropicBlock struct {
	Type   string `json:"type"`
	Text   string `json:"text"`
	Title  string `json:"title"`
	Source struct {
		MediaType string `json:"media_type"`
		Data      string `json:"data"`
	} `json:"source"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	IsError   bool            `json:"is_error"`
	Content   json.RawMessage `json:"content"`
}

func (anthropic) read(body []byte) (*llm.Request, stream, error) {
	var in anthropicRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, stream{}, fmt.Errorf("reading the request: %w", err)
	}
	if in.MaxTokens <= 0 {
		return nil, stream{}, errors.New("max_tokens: is required")
	}
	system, err := anthropicBlocks(in.System)
	if err != nil {
		return nil, stream{}, err
	}
	out := &llm.Request{Model: in.Model, MaxTokens: in.MaxTokens, Temperature: in.Temperature, Schema: in.OutputConfig.Format.Schema}
	for _, b := range system {
		out.System += b.Text
	}
	out.Choice = map[string]llm.ToolChoice{"none": llm.ChoiceNone, "any": llm.ChoiceRequired}[in.ToolChoice.Type]
	for _, t := range in.Tools {
		out.Tools = append(out.Tools, llm.ToolSpec{Name: t.Name, Description: t.Description, Schema: t.InputSchema})
	}
	for i, m := range in.Messages {
		if i > 0 && in.Messages[i-1].Role == m.Role {
			return nil, stream{}, errors.New("messages: roles must alternate")
		}
		if err := addAnthropic(out, m.Role, m.Content); err != nil {
			return nil, stream{}, err
		}
	}
	return out, stream{in.Stream, true}, check(out)
}

// addAnthropic adds a message to a request. A user message with results becomes two
// messages if other blocks follow the results.
func addAnthropic(out *llm.Request, role string, content json.RawMessage) error {
	blocks, err := anthropicBlocks(content)
	if err != nil {
		return err
	}
	if len(blocks) == 0 {
		return errors.New("messages: content must not be empty")
	}
	var results []llm.ToolResult
	m := llm.Message{Role: llm.Role(role)}
	for _, b := range blocks {
		switch b.Type {
		case "text":
			if b.Text == "" {
				return errors.New("messages: text content blocks must be non-empty")
			}
			m.Parts = append(m.Parts, llm.Part{Text: b.Text})
		case "image", "document":
			data, err := base64.StdEncoding.DecodeString(b.Source.Data)
			if err != nil {
				return fmt.Errorf("reading a file: %w", err)
			}
			m.Parts = append(m.Parts, llm.Part{MediaType: b.Source.MediaType, Data: data, Name: b.Title})
		case "tool_use":
			if !strings.HasPrefix(strings.TrimSpace(string(b.Input)), "{") {
				return errors.New("messages: tool_use.input must be an object")
			}
			m.Calls = append(m.Calls, llm.ToolCall{ID: b.ID, Name: b.Name, Arguments: string(b.Input)})
		case "tool_result":
			inner, err := anthropicBlocks(b.Content)
			if err != nil {
				return err
			}
			var text strings.Builder
			for _, i := range inner {
				text.WriteString(i.Text)
			}
			results = append(results, llm.ToolResult{CallID: b.ToolUseID, Content: text.String(), IsError: b.IsError})
		}
	}
	if m.Role == llm.RoleAssistant {
		m.Raw, m.RawProvider = content, "anthropic"
	}
	if len(results) > 0 {
		out.Messages = append(out.Messages, llm.Message{Role: llm.RoleTool, Results: results})
	}
	if len(results) == 0 || len(m.Parts) > 0 {
		out.Messages = append(out.Messages, m)
	}
	return nil
}

func anthropicBlocks(content json.RawMessage) (out []anthropicBlock, err error) {
	var text string
	if len(content) == 0 {
		return nil, nil
	}
	if json.Unmarshal(content, &text) == nil {
		return []anthropicBlock{{Type: "text", Text: text}}, nil
	}
	if err := json.Unmarshal(content, &out); err != nil {
		return nil, fmt.Errorf("reading the blocks of a message: %w", err)
	}
	return out, nil
}

var anthropicStops = map[llm.Stop]string{
	llm.StopDone: "end_turn", llm.StopTools: "tool_use", llm.StopLength: "max_tokens", llm.StopRefused: "refusal",
}

// blocks returns the complete blocks of an answer.
func (anthropic) blocks(r *llm.Response) []map[string]any {
	var out []map[string]any
	_ = json.Unmarshal(r.Message.Raw, &out) // data that only this provider has
	if text := r.Message.Text(); text != "" {
		out = append(out, map[string]any{"type": "text", "text": text})
	}
	for _, c := range r.Message.Calls {
		var input json.RawMessage
		if json.Unmarshal([]byte(c.Arguments), &input) != nil {
			input = json.RawMessage("{}")
		}
		out = append(out, map[string]any{"type": "tool_use", "id": c.ID, "name": c.Name, "input": input})
	}
	return out
}

func (p anthropic) whole(r *llm.Response) any {
	content := p.blocks(r)
	if content == nil {
		content = []map[string]any{}
	}
	m := map[string]any{
		"id": "msg_1", "type": "message", "role": "assistant", "model": r.Model, "content": content,
		"stop_reason": anthropicStops[r.Stop], "stop_sequence": nil,
	}
	if r.Usage.Known {
		m["usage"] = anthropicUsage(r.Usage)
	}
	return m
}

// anthropicUsage counts cached tokens separately from the input.
func anthropicUsage(u llm.Usage) map[string]any {
	return map[string]any{
		"input_tokens": u.Input - u.CacheRead - u.CacheWrite - u.CacheWrite1h, "output_tokens": u.Output,
		"cache_read_input_tokens": u.CacheRead, "cache_creation_input_tokens": u.CacheWrite + u.CacheWrite1h,
		"cache_creation":        map[string]any{"ephemeral_5m_input_tokens": u.CacheWrite, "ephemeral_1h_input_tokens": u.CacheWrite1h},
		"output_tokens_details": map[string]any{"thinking_tokens": u.Reasoning},
	}
}

func (p anthropic) parts(r *llm.Response, _ stream) (before, after []event) {
	start := map[string]any{
		"id": "msg_1", "type": "message", "role": "assistant", "model": r.Model, "content": []any{}, "stop_reason": nil, "stop_sequence": nil,
	}
	end := map[string]any{"type": "message_delta", "delta": map[string]any{"stop_reason": anthropicStops[r.Stop], "stop_sequence": nil}}
	if r.Usage.Known {
		started := anthropicUsage(r.Usage)
		started["output_tokens"], started["output_tokens_details"] = 1, nil
		start["usage"] = started
		end["usage"] = map[string]any{"output_tokens": r.Usage.Output, "output_tokens_details": map[string]any{"thinking_tokens": r.Usage.Reasoning}}
	}
	all := []event{named("message_start", map[string]any{"type": "message_start", "message": start}), named("ping", map[string]any{"type": "ping"})}
	cut := 0
	blocks := p.blocks(r)
	for i, b := range blocks {
		open, deltas := anthropicDeltas(b, r.Message.Calls, i-(len(blocks)-len(r.Message.Calls)))
		all = append(all, named("content_block_start", map[string]any{"type": "content_block_start", "index": i, "content_block": open}))
		for j, d := range deltas {
			if cut == 0 && i == len(blocks)-1 && j >= (len(deltas)+1)/2 {
				cut = len(all)
			}
			all = append(all, named("content_block_delta", map[string]any{"type": "content_block_delta", "index": i, "delta": d}))
		}
		all = append(all, named("content_block_stop", map[string]any{"type": "content_block_stop", "index": i}))
	}
	cut = cmp.Or(cut, len(all))
	all = append(all, named("message_delta", end), named("message_stop", map[string]any{"type": "message_stop"}))
	return all[:cut], all[cut:]
}

func named(name string, data any) event { return event{name, data} }

// anthropicDeltas returns the start of a block and the deltas that follow. It
// streams the arguments of a call unchanged, even if they are not JSON.
func anthropicDeltas(b map[string]any, calls []llm.ToolCall, call int) (open map[string]any, deltas []any) {
	switch b["type"] {
	case "text":
		text, _ := b["text"].(string)
		for _, part := range words(text) {
			deltas = append(deltas, map[string]any{"type": "text_delta", "text": part})
		}
		return map[string]any{"type": "text", "text": ""}, deltas
	case "thinking":
		return map[string]any{"type": "thinking", "thinking": "", "signature": ""}, []any{
			map[string]any{"type": "thinking_delta", "thinking": b["thinking"]}, map[string]any{"type": "signature_delta", "signature": b["signature"]},
		}
	case "tool_use":
		arguments := calls[call].Arguments
		for _, part := range []string{"", half(arguments), strings.TrimPrefix(arguments, half(arguments))} {
			deltas = append(deltas, map[string]any{"type": "input_json_delta", "partial_json": part})
		}
		return map[string]any{"type": "tool_use", "id": b["id"], "name": b["name"], "input": map[string]any{}}, deltas
	}
	return b, nil
}

func (anthropic) refusal(status int, code llm.Code, message string) any {
	kinds := map[llm.Code]string{
		llm.CodeForbidden: "authentication_error", llm.CodeNoModel: "not_found_error", llm.CodeRateLimited: "rate_limit_error",
		llm.CodeUnavailable: "overloaded_error", llm.CodeTimeout: "timeout_error",
	}
	kind := kinds[code]
	if kind == "" {
		kind = "invalid_request_error"
		if status >= 500 {
			kind = "api_error"
		}
	}
	if code == llm.CodeTooLong {
		message = "prompt is too long: " + message
	}
	return map[string]any{"type": "error", "error": map[string]any{"type": kind, "message": message}, "request_id": "req_1"}
}

func (anthropic) broken(body any) event { return event{"error", body} }
