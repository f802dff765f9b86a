package openai

import (
	"cmp"
	"encoding/base64"
	"encoding/json"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/internal/wire"
)

// chatPath is the path of answers.
const chatPath = "chat/completions"

// params converts a request.
func (m *Model) params(call wire.Call, r *llm.Request) (p *chatRequest, err error) {
	p = &chatRequest{Model: r.Model, Temperature: r.Temperature}
	if p.Messages, err = m.messages(call, r); err != nil {
		return nil, err
	}
	limit := int64(r.MaxTokens)
	if limit <= 0 {
		limit = llm.DefaultMaxTokens
	}
	// OpenAI's newer models refuse the older parameter, while other servers know
	// only that.
	if m.own {
		p.MaxCompletionTokens = limit
	} else {
		p.MaxTokens = limit
	}
	if r.OnText != nil {
		p.Stream, p.StreamOptions = true, &streamOptions{IncludeUsage: true}
	}
	if r.Schema != nil {
		if p.ResponseFormat, err = formatOf(call, r.Schema); err != nil {
			return nil, err
		}
	}
	return p, tools(call, r, p)
}

// tools adds the tools that the model may call.
func tools(call wire.Call, r *llm.Request, p *chatRequest) error {
	for _, t := range r.Tools {
		var schema map[string]any
		if err := json.Unmarshal(t.Schema, &schema); err != nil || schema == nil {
			return call.Refuse("the schema of the tool %s is not a JSON object", t.Name)
		}
		p.Tools = append(p.Tools, toolSpec{"function", functionSpec{Name: t.Name, Description: t.Description, Parameters: schema}})
	}
	if len(r.Tools) > 0 && r.Choice != llm.ChoiceAuto {
		p.ToolChoice = string(r.Choice)
	}
	return nil
}

// formatOf requests an answer that matches a schema, in strict mode if the provider
// supports the schema there.
func formatOf(call wire.Call, schema json.RawMessage) (*responseFormat, error) {
	var doc map[string]any
	if err := json.Unmarshal(schema, &doc); err != nil || doc == nil {
		return nil, call.Refuse("the schema of the answer is not a JSON object")
	}
	return &responseFormat{"json_schema", jsonSchema{Name: "answer", Schema: doc, Strict: strict(doc)}}, nil
}

// messages converts the instructions and the conversation.
func (m *Model) messages(call wire.Call, r *llm.Request) ([]any, error) {
	var out []any
	if r.System != "" {
		out = append(out, chatMessage{Role: "system", Content: r.System})
	}
	for i := range r.Messages {
		msg := &r.Messages[i]
		switch msg.Role {
		case llm.RoleUser:
			content, err := contentOf(call, msg)
			if err != nil {
				return nil, err
			}
			out = append(out, chatMessage{Role: "user", Content: content})
		case llm.RoleAssistant:
			out = append(out, m.assistant(msg))
		case llm.RoleTool:
			for _, result := range msg.Results {
				out = append(out, chatMessage{Role: "tool", Content: result.Content, ToolCallID: result.CallID})
			}
		default:
			return nil, call.Refuse("there is no role %q", msg.Role)
		}
	}
	if len(r.Messages) == 0 {
		return nil, call.Refuse("there is no message to answer")
	}
	return out, nil
}

// assistant converts a message of the model. It uses the original message if it is
// from this provider.
func (m *Model) assistant(msg *llm.Message) any {
	if len(msg.Raw) > 0 && msg.RawProvider == m.provider && json.Valid(msg.Raw) {
		return msg.Raw
	}
	said := chatMessage{Role: "assistant"}
	if text := msg.Text(); text != "" || len(msg.Calls) == 0 {
		said.Content = text
	}
	for _, c := range msg.Calls {
		said.ToolCalls = append(said.ToolCalls, sentCall{c.ID, "function", sentFunction{c.Name, object(c.Arguments)}})
	}
	return said
}

// object returns arguments for the next request. It always returns an object:
// servers that insert arguments into a template cannot read anything else.
func object(arguments string) string {
	var o map[string]json.RawMessage
	if json.Unmarshal([]byte(arguments), &o) != nil || o == nil {
		return "{}"
	}
	return arguments
}

// contentOf converts a message of the user: to a string if it has no files, which
// every server accepts.
func contentOf(call wire.Call, msg *llm.Message) (any, error) {
	parts := make([]contentPart, 0, len(msg.Parts))
	files := false
	for _, p := range msg.Parts {
		part, err := partOf(call, p)
		if err != nil {
			return nil, err
		}
		files = files || p.MediaType != ""
		parts = append(parts, part)
	}
	if !files {
		return msg.Text(), nil
	}
	return parts, nil
}

// partOf converts a text, an image, a recording or a PDF document.
//
// Source: https://platform.openai.com/docs/guides/images-vision and
// https://platform.openai.com/docs/guides/pdf-files
func partOf(call wire.Call, p llm.Part) (contentPart, error) {
	data := base64.StdEncoding.EncodeToString(p.Data)
	switch p.MediaType {
	case "":
		return contentPart{Type: "text", Text: &p.Text}, nil
	case "image/jpeg", "image/png", "image/gif", "image/webp":
		return contentPart{Type: "image_url", ImageURL: &imageURL{"data:" + p.MediaType + ";base64," + data}}, nil
	case "audio/wav", "audio/x-wav":
		return contentPart{Type: "input_audio", InputAudio: &inputAudio{data, "wav"}}, nil
	case "audio/mpeg", "audio/mp3":
		return contentPart{Type: "input_audio", InputAudio: &inputAudio{data, "mp3"}}, nil
	case "application/pdf":
		return contentPart{Type: "file", File: &inputFile{cmp.Or(p.Name, "document.pdf"), "data:application/pdf;base64," + data}}, nil
	}
	return contentPart{}, call.Refuse(
		"a file of type %q cannot be shown to the model: JPEG, PNG, GIF, WebP, WAV, MP3 and PDF can", p.MediaType)
}
