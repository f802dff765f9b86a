package llm

import (
	"context"
	"encoding/json"
)

// ToolSpec describes a tool to a model.
type ToolSpec struct {
	Name        string          `json:"name"` // ^[a-zA-Z0-9_-]{1,64}$, valid for all providers
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"` // JSON Schema of the arguments: an object
}

// Tool is a tool that a model may call: a function of a registry, of a project, or
// of a foreign MCP server.
type Tool struct {
	ToolSpec
	// Origin is its name in flows: "send_message", "server/tool". People see this
	// name.
	Origin string
	// ReadOnly reports that it changes nothing, Idempotent that a second call
	// changes nothing more, Destructive that it may delete or overwrite, OpenWorld
	// that it reaches people or systems outside of the account.
	ReadOnly, Idempotent, Destructive, OpenWorld bool
	// Private reports that it reads data of the account or a contact, and Untrusted
	// that outsiders may have written its results.
	Private, Untrusted bool
	// Leaves reports that its arguments leave this process, or are stored where
	// others can read them after the run. Hints of a foreign server do not change
	// that.
	Leaves bool
	// Source names the origin of a private result. Home is the only place that
	// reads the arguments, if it uses them only to look something up: data that
	// came from there may be sent there. "": unknown.
	Source, Home string
	// Shared reports that the contact of the run may see private results: they are
	// from the contact's own chat. Others reports that they are also from other
	// contacts.
	Shared, Others bool
	// Says reports that the contact may see the arguments: links in them are
	// checked like those in answers.
	Says bool
	// Call executes the call. The arguments match the schema. If the error is a
	// [*ToolError] the model sees it; any other error is hidden from the model.
	Call func(ctx context.Context, c ToolRun) (ToolOutput, error)
}

// ToolRun is one call of a tool.
type ToolRun struct {
	Arguments json.RawMessage
	// Key identifies the call: a repeated call has the same key, so that a tool
	// that writes can ignore the repetition.
	Key string
}

// ToolOutput is the result of a tool.
type ToolOutput struct {
	Content string          // the result for the model
	Value   json.RawMessage // the structured result; nil: none
	IsError bool            // the tool reports a failure
}

// ToolError is an error that the model may read and react to.
type ToolError struct{ Code, Message string }

func (e *ToolError) Error() string { return e.Code + ": " + e.Message }
