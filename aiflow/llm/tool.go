package llm

import (
	"context"
	"encoding/json"
)

// ToolSpec is what a model is told of a tool.
type ToolSpec struct {
	Name        string          `json:"name"` // ^[a-zA-Z0-9_-]{1,64}$, as all providers have it
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"` // JSON Schema of the arguments: an object
}

// Tool is something that a model may have done: a function of a registry, of a
// project, or of a foreign MCP server.
type Tool struct {
	ToolSpec
	// Origin is where it comes from, as flows name it: "send_message",
	// "server/tool". It is what is shown to people.
	Origin string
	// ReadOnly says that it changes nothing, Idempotent that a second call
	// changes nothing more, Destructive that it takes away or overwrites,
	// OpenWorld that it reaches people or systems beyond the account.
	ReadOnly, Idempotent, Destructive, OpenWorld bool
	// Private says that it reads what belongs to the account or a contact, and
	// Untrusted that strangers may have written what it returns.
	Private, Untrusted bool
	// Leaves says that its arguments leave this process, or outlive the run
	// where others read them. What a foreign server says of its tool changes
	// nothing of that.
	Leaves bool
	// Source names what a private result comes from, and Home from where alone
	// the arguments are read, by something that only looks them up there: what
	// came from there is no news to it. "": not known.
	Source, Home string
	// Shared says that the contact of the run may know what a private result
	// holds: it is of the contact's own chat. Others says that it is of other
	// contacts, too.
	Shared, Others bool
	// Says says that the contact may be shown the arguments: links in them are
	// held to the rule for answers.
	Says bool
	// Call does it. Arguments fit the schema. An error is shown to the model
	// when it is a [*ToolError]; any other is hidden from it.
	Call func(ctx context.Context, c ToolRun) (ToolOutput, error)
}

// ToolRun is one call of a tool.
type ToolRun struct {
	Arguments json.RawMessage
	// Key names the call for good: one that is repeated has the same, so that
	// who writes can write once.
	Key string
}

// ToolOutput is what a tool returns.
type ToolOutput struct {
	Content string          // what the model is shown
	Value   json.RawMessage // the structured result; nil: there is none
	IsError bool            // the tool says that it failed
}

// ToolError is a failure that a model may read and act upon.
type ToolError struct{ Code, Message string }

func (e *ToolError) Error() string { return e.Code + ": " + e.Message }
