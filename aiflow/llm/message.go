package llm

import (
	"encoding/json"
	"strings"
)

// Role is the author of a message.
type Role string

// Roles of messages.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool" // results of the calls in the message before
)

// Message is a message of a conversation.
type Message struct {
	Role    Role         `json:"role"`
	Parts   []Part       `json:"parts,omitempty"`   // of the user and the assistant
	Calls   []ToolCall   `json:"calls,omitempty"`   // of the assistant
	Results []ToolResult `json:"results,omitempty"` // of tools: one for each call, in the same order
	// Raw is the assistant's message in the provider's own format, including data
	// that only this provider has. It is sent back unchanged to the same provider.
	Raw         json.RawMessage `json:"raw,omitempty"`
	RawProvider string          `json:"rawProvider,omitempty"`
}

// Part is a part of a message: a text, or a file that the model sees or hears.
type Part struct {
	Text      string `json:"text,omitempty"`
	MediaType string `json:"mediaType,omitempty"` // "" is text; image/…, audio/… or application/pdf
	Data      []byte `json:"data,omitempty"`
	Name      string `json:"name,omitempty"` // of the file
}

// ToolCall is a call of a tool that a model requests.
type ToolCall struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Arguments should be a JSON object, but may be anything that the model wrote:
	// they must be validated.
	Arguments string `json:"arguments"`
}

// ToolResult is the result of a call.
type ToolResult struct {
	CallID  string `json:"callId"`
	Content string `json:"content"`
	IsError bool   `json:"isError,omitempty"`
}

// User returns a message of the user with a text.
func User(text string) Message {
	return Message{Role: RoleUser, Parts: []Part{{Text: text}}}
}

// Assistant returns a message of the assistant with a text.
func Assistant(text string) Message {
	return Message{Role: RoleAssistant, Parts: []Part{{Text: text}}}
}

// Text returns the text of all parts of a message.
func (m *Message) Text() string {
	var b strings.Builder
	for _, p := range m.Parts {
		b.WriteString(p.Text)
	}
	return b.String()
}
