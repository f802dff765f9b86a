package anthropic

import (
	"encoding/json"

	"github.com/trunklinehq/trunkline/aiflow/llm/internal/wire"
)

// messageRequest is the body of a request for an answer.
type messageRequest struct {
	Model        string         `json:"model"`
	MaxTokens    int64          `json:"max_tokens"`
	System       []contentBlock `json:"system,omitempty"`
	Messages     []chatMessage  `json:"messages"`
	Temperature  *float64       `json:"temperature,omitempty"`
	OutputConfig *outputConfig  `json:"output_config,omitempty"`
	Tools        []toolSpec     `json:"tools,omitempty"`
	ToolChoice   *kind          `json:"tool_choice,omitempty"`
	Stream       bool           `json:"stream"`
}

// kind is an object that has only a type.
type kind struct {
	Type string `json:"type"`
}

type outputConfig struct {
	Format outputFormat `json:"format"`
}

type outputFormat struct {
	Type   string         `json:"type"`
	Schema map[string]any `json:"schema"`
}

type toolSpec struct {
	Name        string         `json:"name"`
	Description string         `json:"description,omitempty"`
	InputSchema map[string]any `json:"input_schema"`
}

// chatMessage is a message of the conversation.
type chatMessage struct {
	Role    string `json:"role"`
	Content []any  `json:"content"` // contentBlock, or the JSON of one
}

// contentBlock is a block of a message: the members of its type are set.
type contentBlock struct {
	Type         string          `json:"type"`
	Text         *string         `json:"text,omitempty"`
	CacheControl *kind           `json:"cache_control,omitempty"`
	Source       *source         `json:"source,omitempty"`
	Title        string          `json:"title,omitempty"`
	ID           string          `json:"id,omitempty"`
	Name         string          `json:"name,omitempty"`
	Input        json.RawMessage `json:"input,omitempty"`
	ToolUseID    string          `json:"tool_use_id,omitempty"`
	Content      []contentBlock  `json:"content,omitempty"`
	IsError      *bool           `json:"is_error,omitempty"`
}

// source is a file.
type source struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      string `json:"data"`
}

// textBlock returns a block of text.
func textBlock(text string) contentBlock { return contentBlock{Type: "text", Text: &text} }

// fileBlock returns a block with a file.
func fileBlock(kind, mediaType, data, title string) contentBlock {
	return contentBlock{Type: kind, Source: &source{"base64", mediaType, data}, Title: title}
}

// event is an event of a streamed answer. The members of its type are set.
type event struct {
	Type    wire.Text   `json:"type"`
	Index   wire.Number `json:"index"`
	Message struct {
		Model wire.Text `json:"model"`
		Usage usage     `json:"usage"`
	} `json:"message"`
	ContentBlock json.RawMessage `json:"content_block"`
	Delta        delta           `json:"delta"`
	Usage        usage           `json:"usage"`
}

type delta struct {
	Type        wire.Text `json:"type"`
	Text        wire.Text `json:"text"`
	Thinking    wire.Text `json:"thinking"`
	Signature   wire.Text `json:"signature"`
	PartialJSON wire.Text `json:"partial_json"`
	StopReason  wire.Text `json:"stop_reason"`
}

// blockStart is a block as it starts.
type blockStart struct {
	Type      wire.Text       `json:"type"`
	Text      wire.Text       `json:"text"`
	Thinking  wire.Text       `json:"thinking"`
	Signature wire.Text       `json:"signature"`
	ID        wire.Text       `json:"id"`
	Name      wire.Text       `json:"name"`
	Input     json.RawMessage `json:"input"`
}

// usage has nil for what the provider does not say.
type usage struct {
	InputTokens              *wire.Number `json:"input_tokens"`
	OutputTokens             *wire.Number `json:"output_tokens"`
	CacheReadInputTokens     *wire.Number `json:"cache_read_input_tokens"`
	CacheCreationInputTokens *wire.Number `json:"cache_creation_input_tokens"`
	CacheCreation            struct {
		Ephemeral1hInputTokens wire.Number `json:"ephemeral_1h_input_tokens"`
	} `json:"cache_creation"`
	OutputTokensDetails *struct {
		ThinkingTokens wire.Number `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

// count returns a number of tokens; nil: 0.
func count(n *wire.Number) int64 {
	if n == nil {
		return 0
	}
	return n.Count()
}

type modelList struct {
	Data []struct {
		ID          wire.Text `json:"id"`
		DisplayName wire.Text `json:"display_name"`
	} `json:"data"`
}
