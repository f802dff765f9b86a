package openai

import (
	"cmp"
	"encoding/base64"
	"encoding/json"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/internal/wire"
)

// params converts a request.
func (m *Model) params(call wire.Call, r *llm.Request) (p openai.ChatCompletionNewParams, err error) {
	p.Model = r.Model
	if p.Messages, err = m.messages(call, r); err != nil {
		return p, err
	}
	limit := int64(r.MaxTokens)
	if limit <= 0 {
		limit = llm.DefaultMaxTokens
	}
	// OpenAI's newer models refuse the older parameter, while other servers know
	// only that.
	if m.own {
		p.MaxCompletionTokens = openai.Int(limit)
	} else {
		p.MaxTokens = openai.Int(limit)
	}
	if r.Temperature != nil {
		p.Temperature = openai.Float(*r.Temperature)
	}
	if r.OnText != nil {
		p.StreamOptions.IncludeUsage = openai.Bool(true)
	}
	if r.Schema != nil {
		format, err := formatOf(call, r.Schema)
		if err != nil {
			return p, err
		}
		p.ResponseFormat.OfJSONSchema = format
	}
	return p, tools(call, r, &p)
}

// tools adds the tools that the model may call.
func tools(call wire.Call, r *llm.Request, p *openai.ChatCompletionNewParams) error {
	for _, t := range r.Tools {
		var schema map[string]any
		if err := json.Unmarshal(t.Schema, &schema); err != nil || schema == nil {
			return call.Refuse("the schema of the tool %s is not a JSON object", t.Name)
		}
		f := shared.FunctionDefinitionParam{Name: t.Name, Parameters: schema}
		if t.Description != "" {
			f.Description = openai.String(t.Description)
		}
		p.Tools = append(p.Tools, openai.ChatCompletionFunctionTool(f))
	}
	if len(r.Tools) > 0 && r.Choice != llm.ChoiceAuto {
		p.ToolChoice.OfAuto = openai.String(string(r.Choice))
	}
	return nil
}

// formatOf requests an answer that matches a schema, in strict mode if the provider
// supports the schema there.
func formatOf(call wire.Call, schema json.RawMessage) (*shared.ResponseFormatJSONSchemaParam, error) {
	var doc map[string]any
	if err := json.Unmarshal(schema, &doc); err != nil || doc == nil {
		return nil, call.Refuse("the schema of the answer is not a JSON object")
	}
	return &shared.ResponseFormatJSONSchemaParam{JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
		Name: "answer", Schema: doc, Strict: openai.Bool(strict(doc)),
	}}, nil
}

// messages converts the instructions and the conversation.
func (m *Model) messages(call wire.Call, r *llm.Request) ([]openai.ChatCompletionMessageParamUnion, error) {
	var out []openai.ChatCompletionMessageParamUnion
	if r.System != "" {
		out = append(out, openai.SystemMessage(r.System))
	}
	for i := range r.Messages {
		msg := &r.Messages[i]
		switch msg.Role {
		case llm.RoleUser:
			parts, err := partsOf(call, msg)
			if err != nil {
				return nil, err
			}
			out = append(out, parts)
		case llm.RoleAssistant:
			out = append(out, m.assistant(msg))
		case llm.RoleTool:
			for _, result := range msg.Results {
				out = append(out, openai.ToolMessage(result.Content, result.CallID))
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
func (m *Model) assistant(msg *llm.Message) openai.ChatCompletionMessageParamUnion {
	if len(msg.Raw) > 0 && msg.RawProvider == m.provider && json.Valid(msg.Raw) {
		raw := param.Override[openai.ChatCompletionAssistantMessageParam](msg.Raw)
		return openai.ChatCompletionMessageParamUnion{OfAssistant: &raw}
	}
	var said openai.ChatCompletionAssistantMessageParam
	if text := msg.Text(); text != "" || len(msg.Calls) == 0 {
		said.Content.OfString = openai.String(text)
	}
	for _, c := range msg.Calls {
		said.ToolCalls = append(said.ToolCalls, openai.ChatCompletionMessageToolCallUnionParam{
			OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{
				ID: c.ID, Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: c.Name, Arguments: object(c.Arguments)},
			},
		})
	}
	return openai.ChatCompletionMessageParamUnion{OfAssistant: &said}
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

// partsOf converts a message of the user.
func partsOf(call wire.Call, msg *llm.Message) (openai.ChatCompletionMessageParamUnion, error) {
	var none openai.ChatCompletionMessageParamUnion
	parts := make([]openai.ChatCompletionContentPartUnionParam, 0, len(msg.Parts))
	files := false
	for _, p := range msg.Parts {
		part, err := partOf(call, p)
		if err != nil {
			return none, err
		}
		files = files || p.MediaType != ""
		parts = append(parts, part)
	}
	if !files {
		return openai.UserMessage(msg.Text()), nil // a plain text, which every server accepts
	}
	return openai.UserMessage(parts), nil
}

// partOf converts a text, an image, a recording or a PDF document.
//
// Source: https://platform.openai.com/docs/guides/images-vision and
// https://platform.openai.com/docs/guides/pdf-files
func partOf(call wire.Call, p llm.Part) (openai.ChatCompletionContentPartUnionParam, error) {
	data := base64.StdEncoding.EncodeToString(p.Data)
	switch p.MediaType {
	case "":
		return openai.TextContentPart(p.Text), nil
	case "image/jpeg", "image/png", "image/gif", "image/webp":
		return openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{URL: "data:" + p.MediaType + ";base64," + data}), nil
	case "audio/wav", "audio/x-wav":
		return openai.InputAudioContentPart(openai.ChatCompletionContentPartInputAudioInputAudioParam{Data: data, Format: "wav"}), nil
	case "audio/mpeg", "audio/mp3":
		return openai.InputAudioContentPart(openai.ChatCompletionContentPartInputAudioInputAudioParam{Data: data, Format: "mp3"}), nil
	case "application/pdf":
		name := p.Name
		name = cmp.Or(name, "document.pdf")
		return openai.FileContentPart(openai.ChatCompletionContentPartFileFileParam{
			Filename: openai.String(name), FileData: openai.String("data:application/pdf;base64," + data),
		}), nil
	}
	return openai.ChatCompletionContentPartUnionParam{}, call.Refuse(
		"a file of type %q cannot be shown to the model: JPEG, PNG, GIF, WebP, WAV, MP3 and PDF can", p.MediaType)
}
