package anthropic

import (
	"encoding/base64"
	"encoding/json"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/internal/wire"
)

// params converts a request.
func (m *Model) params(call wire.Call, r *llm.Request) (p *messageRequest, err error) {
	p = &messageRequest{Model: r.Model, MaxTokens: int64(r.MaxTokens), Stream: true}
	if p.MaxTokens <= 0 {
		p.MaxTokens = llm.DefaultMaxTokens
	}
	if r.Temperature != nil {
		limited := min(*r.Temperature, 1) // the provider's maximum
		p.Temperature = &limited
	}
	system := r.System
	if r.Schema != nil {
		schema, fits, err := formatOf(r.Schema)
		switch {
		case err != nil:
			return nil, call.Refuse("the schema of the answer is not a JSON object")
		case fits:
			p.OutputConfig = &outputConfig{outputFormat{"json_schema", schema}}
		default:
			system += "\n\nAnswer with JSON alone that fits this JSON Schema:\n" + string(r.Schema)
		}
	}
	if system != "" {
		// Cached tools and instructions cost a tenth when they are read again
		// within minutes. The provider does not cache short ones.
		p.System = []contentBlock{{Type: "text", Text: &system, CacheControl: &kind{"ephemeral"}}}
	}
	if p.Messages, err = m.conversation(call, r); err != nil {
		return nil, err
	}
	return p, tools(call, r, p)
}

// tools adds the tools that the model may call.
func tools(call wire.Call, r *llm.Request, p *messageRequest) error {
	for _, t := range r.Tools {
		var schema map[string]any
		if err := json.Unmarshal(t.Schema, &schema); err != nil || schema == nil {
			return call.Refuse("the schema of the tool %s is not a JSON object", t.Name)
		}
		schema["type"] = "object" // which is required
		p.Tools = append(p.Tools, toolSpec{Name: t.Name, Description: t.Description, InputSchema: schema})
	}
	if len(r.Tools) == 0 {
		return nil
	}
	switch r.Choice {
	case llm.ChoiceNone:
		p.ToolChoice = &kind{"none"}
	case llm.ChoiceRequired:
		p.ToolChoice = &kind{"any"}
	}
	return nil
}

// conversation converts the messages. It merges consecutive messages of one role,
// so that all results of a turn are in one message of the user.
func (m *Model) conversation(call wire.Call, r *llm.Request) (out []chatMessage, err error) {
	for i := range r.Messages {
		msg, err := m.message(call, &r.Messages[i])
		if err != nil {
			return nil, err
		}
		if n := len(out); n > 0 && out[n-1].Role == msg.Role {
			out[n-1].Content = append(out[n-1].Content, msg.Content...)
			continue
		}
		if len(msg.Content) > 0 {
			out = append(out, msg)
		}
	}
	if len(out) == 0 {
		return nil, call.Refuse("there is no message to answer")
	}
	return out, nil
}

func (m *Model) message(call wire.Call, msg *llm.Message) (out chatMessage, err error) {
	out.Role = "user"
	switch msg.Role {
	case llm.RoleUser:
		for _, p := range msg.Parts {
			block, err := blockOf(call, p)
			if err != nil {
				return out, err
			}
			out.Content = append(out.Content, block...)
		}
	case llm.RoleAssistant:
		out.Role, out.Content = "assistant", m.assistant(msg)
	case llm.RoleTool:
		for _, result := range msg.Results {
			out.Content = append(out.Content, contentBlock{
				Type: "tool_result", ToolUseID: result.CallID, Content: []contentBlock{textBlock(result.Content)}, IsError: &result.IsError,
			})
		}
	default:
		return out, call.Refuse("there is no role %q", msg.Role)
	}
	return out, nil
}

// assistant converts a message of the model. It uses the original blocks if they
// are from this provider.
func (m *Model) assistant(msg *llm.Message) (out []any) {
	var raw []json.RawMessage
	if msg.RawProvider == m.provider && json.Unmarshal(msg.Raw, &raw) == nil && len(raw) > 0 {
		for _, block := range raw {
			out = append(out, block)
		}
		return out
	}
	out = append(out, textOf(msg.Text())...)
	for _, c := range msg.Calls {
		out = append(out, contentBlock{Type: "tool_use", ID: c.ID, Name: c.Name, Input: object(c.Arguments)})
	}
	return out
}

// textOf returns a text block, or nothing for an empty text, which the provider
// refuses.
func textOf(text string) []any {
	if text == "" {
		return nil
	}
	return []any{textBlock(text)}
}

// object returns arguments for the next request: an object, also if the model wrote
// something else.
func object(arguments string) json.RawMessage {
	var o map[string]json.RawMessage
	if json.Unmarshal([]byte(arguments), &o) != nil || o == nil {
		return json.RawMessage("{}")
	}
	return json.RawMessage(arguments)
}

// blockOf converts a text, an image or a PDF document.
//
// Source: https://platform.claude.com/docs/en/build-with-claude/vision and
// https://platform.claude.com/docs/en/build-with-claude/pdf-support
func blockOf(call wire.Call, p llm.Part) ([]any, error) {
	data := base64.StdEncoding.EncodeToString(p.Data)
	switch p.MediaType {
	case "":
		return textOf(p.Text), nil
	case "image/jpeg", "image/png", "image/gif", "image/webp":
		return []any{fileBlock("image", p.MediaType, data, "")}, nil
	case "application/pdf":
		return []any{fileBlock("document", p.MediaType, data, p.Name)}, nil
	}
	return nil, call.Refuse("a file of type %q cannot be shown to the model: JPEG, PNG, GIF, WebP and PDF can", p.MediaType)
}
