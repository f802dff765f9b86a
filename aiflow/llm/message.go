package llm

import (
	"encoding/json"
	"strings"
)

// Role says whose message it is.
type Role string

// Whose message it is.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool" // results of the calls of the message before
)

// Message is one of a conversation.
type Message struct {
	Role    Role         `json:"role"`
	Parts   []Part       `json:"parts,omitempty"`   // of the user and the assistant
	Calls   []ToolCall   `json:"calls,omitempty"`   // of the assistant
	Results []ToolResult `json:"results,omitempty"` // of tools: one for each call, in their order
	// Raw is the assistant's message in the provider's own words, with what no
	// other provider has. It is sent back unchanged to the same provider.
	Raw         json.RawMessage `json:"raw,omitempty"`
	RawProvider string          `json:"rawProvider,omitempty"`
}

// Part is a piece of a message: a text, or a file that the model looks at or
// listens to.
type Part struct {
	Text      string `json:"text,omitempty"`
	MediaType string `json:"mediaType,omitempty"` // "" is text; image/…, audio/… or application/pdf
	Data      []byte `json:"data,omitempty"`
	Name      string `json:"name,omitempty"` // of the file
}

// ToolCall is a call that a model wants.
type ToolCall struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Arguments are a JSON object, or whatever the model wrote in its place:
	// they must be validated.
	Arguments string `json:"arguments"`
}

// ToolResult is what came of a call.
type ToolResult struct {
	CallID  string `json:"callId"`
	Content string `json:"content"`
	IsError bool   `json:"isError,omitempty"`
}

// User is a message of the user.
func User(text string) Message {
	return Message{Role: RoleUser, Parts: []Part{{Text: text}}}
}

// Assistant is a message of the model.
func Assistant(text string) Message {
	return Message{Role: RoleAssistant, Parts: []Part{{Text: text}}}
}

// Text is all text of a message.
func (m *Message) Text() string {
	var b strings.Builder
	for _, p := range m.Parts {
		b.WriteString(p.Text)
	}
	return b.String()
}
