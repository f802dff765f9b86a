package openai

import (
	"encoding/json"

	"github.com/trunklinehq/trunkline/aiflow/llm/internal/wire"
)

// chatRequest is the body of a request for an answer.
type chatRequest struct {
	Model               string          `json:"model"`
	Messages            []any           `json:"messages"` // chatMessage, or the JSON of one
	MaxTokens           int64           `json:"max_tokens,omitempty"`
	MaxCompletionTokens int64           `json:"max_completion_tokens,omitempty"`
	Temperature         *float64        `json:"temperature,omitempty"`
	ResponseFormat      *responseFormat `json:"response_format,omitempty"`
	Tools               []toolSpec      `json:"tools,omitempty"`
	ToolChoice          string          `json:"tool_choice,omitempty"`
	Stream              bool            `json:"stream,omitempty"`
	StreamOptions       *streamOptions  `json:"stream_options,omitempty"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type responseFormat struct {
	Type       string     `json:"type"`
	JSONSchema jsonSchema `json:"json_schema"`
}

type jsonSchema struct {
	Name   string         `json:"name"`
	Schema map[string]any `json:"schema"`
	Strict bool           `json:"strict"`
}

type toolSpec struct {
	Type     string       `json:"type"`
	Function functionSpec `json:"function"`
}

type functionSpec struct {
	Name        string         `json:"name"`
	Description string         `json:"description,omitempty"`
	Parameters  map[string]any `json:"parameters"`
}

// chatMessage is a message of the conversation.
type chatMessage struct {
	Role       string     `json:"role"`
	Content    any        `json:"content,omitempty"` // a string or []contentPart
	ToolCallID string     `json:"tool_call_id,omitempty"`
	ToolCalls  []sentCall `json:"tool_calls,omitempty"`
}

type sentCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function sentFunction `json:"function"`
}

type sentFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// contentPart is a part of a message of the user: the member that its type names is
// set.
type contentPart struct {
	Type       string      `json:"type"`
	Text       *string     `json:"text,omitempty"`
	ImageURL   *imageURL   `json:"image_url,omitempty"`
	InputAudio *inputAudio `json:"input_audio,omitempty"`
	File       *inputFile  `json:"file,omitempty"`
}

type imageURL struct {
	URL string `json:"url"`
}

type inputAudio struct {
	Data   string `json:"data"`
	Format string `json:"format"`
}

type inputFile struct {
	Filename string `json:"filename"`
	FileData string `json:"file_data"`
}

// completion is an answer, or a chunk of a streamed one.
type completion struct {
	Model   wire.Text       `json:"model"`
	Choices []choice        `json:"choices"`
	Usage   json.RawMessage `json:"usage"` // see usageOf
	Error   json.RawMessage `json:"error"` // of a stream
}

type choice struct {
	Index        wire.Number `json:"index"`
	FinishReason wire.Text   `json:"finish_reason"`
	Message      message     `json:"message"`
	Delta        message     `json:"delta"` // of a stream
}

// message is a message of the model, or a part of a streamed one.
type message struct {
	Content   wire.Text  `json:"content"`
	Refusal   wire.Text  `json:"refusal"`
	ToolCalls []readCall `json:"tool_calls"`

	others map[string]json.RawMessage // members that are not part of the protocol
}

type readCall struct {
	Index    wire.Number `json:"index"`
	ID       wire.Text   `json:"id"`
	Function struct {
		Name      wire.Text       `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

// UnmarshalJSON reads a message, with the members that only some servers have.
func (m *message) UnmarshalJSON(b []byte) error {
	type plain message
	if err := json.Unmarshal(b, (*plain)(m)); err != nil {
		return err
	}
	if err := json.Unmarshal(b, &m.others); err != nil {
		return err
	}
	for _, known := range []string{"annotations", "audio", "content", "function_call", "refusal", "role", "tool_calls"} {
		delete(m.others, known)
	}
	return nil
}

type usage struct {
	PromptTokens        wire.Number `json:"prompt_tokens"`
	CompletionTokens    wire.Number `json:"completion_tokens"`
	TotalTokens         wire.Number `json:"total_tokens"`
	PromptTokensDetails struct {
		CachedTokens     wire.Number `json:"cached_tokens"`
		CacheWriteTokens wire.Number `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionTokensDetails struct {
		ReasoningTokens wire.Number `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

type modelList struct {
	Data []struct {
		ID wire.Text `json:"id"`
	} `json:"data"`
}

type embeddingRequest struct {
	Model          string   `json:"model"`
	Input          []string `json:"input"`
	EncodingFormat string   `json:"encoding_format"`
}

type embeddingList struct {
	Model wire.Text `json:"model"`
	Data  []struct {
		Index     wire.Number `json:"index"`
		Embedding []float64   `json:"embedding"`
	} `json:"data"`
	Usage json.RawMessage `json:"usage"` // see usageOf
}
