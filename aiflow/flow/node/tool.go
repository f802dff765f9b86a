package node

import (
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow"
)

// toolConfig calls one tool of an MCP server.
type toolConfig struct {
	Server      string               `json:"server" required:"true" min:"1" max:"64" doc:"Name of the MCP server."`
	Tool        string               `json:"tool" required:"true" min:"1" max:"128" doc:"Name of the tool."`
	Arguments   map[string]flow.Data `json:"arguments" max:"64" doc:"What it is given."`
	Timeout     time.Duration        `json:"timeout" default:"PT15S" min:"PT1S" max:"PT300S" doc:"Of each attempt."`
	Retry       flow.RetryConfig     `json:"retry" doc:"What happens after an attempt that failed for now."`
	Idempotency string               `json:"idempotency" default:"auto" enum:"auto,safe,once" doc:"safe: may be repeated after a crash; once: never is; auto: as the tool says of itself."`
	SaveTo      string               `json:"saveTo" pattern:"variable" writes:"true" doc:"Variable that takes the result."`
}

func toolType() flow.NodeType {
	return flow.NodeType{
		Name: "tool", Group: "ai", Text: "Calls a tool of an MCP server.",
		Engines: flow.Modern(), Effect: "mcp",
		Outputs: []flow.Output{{Name: "out", Text: "its result"}, {Name: "error", Text: "it failed"}},
		Errors:  []string{"mcp.connect", "mcp.timeout", "mcp.tool_error", "mcp.bad_arguments", "effect.unknown"},
		Config:  func() flow.Config { return &toolConfig{} },
	}
}

func (*toolConfig) Outputs() []string { return []string{"out", "error"} }

func (*toolConfig) Check(*flow.Checker) {}
