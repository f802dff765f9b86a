package node

import (
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// toolConfig is the configuration of a node that calls a tool of an MCP server.
type toolConfig struct {
	Server      string               `json:"server" required:"true" min:"1" max:"64" doc:"Name of the MCP server."`
	Tool        string               `json:"tool" required:"true" min:"1" max:"128" doc:"Name of the tool."`
	Arguments   map[string]flow.Data `json:"arguments" max:"64" doc:"Arguments of the tool."`
	Timeout     time.Duration        `json:"timeout" default:"PT15S" min:"PT1S" max:"PT300S" doc:"Maximum duration of each attempt."`
	Retry       flow.RetryConfig     `json:"retry" doc:"How to retry after a temporary error."`
	Idempotency string               `json:"idempotency" default:"auto" enum:"auto,safe,once" doc:"safe: may be repeated after a crash; once: is never repeated; auto: as the hints of the tool say."`
	SaveTo      string               `json:"saveTo" pattern:"variable" writes:"true" doc:"Name of the variable in which the result is stored."`
}

func toolType() flow.NodeType {
	return flow.NodeType{
		Name: "tool", Group: "ai", Text: "Calls a tool of an MCP server.",
		Engines: modern(), Effect: "mcp",
		Outputs: []flow.Output{{Name: "out", Text: "the tool has returned a result"}, {Name: "error", Text: "the tool failed"}},
		Errors:  []string{"mcp.connect", "mcp.timeout", "mcp.tool_error", "mcp.bad_arguments", "effect.unknown"},
		Config:  func() flow.Config { return &toolConfig{} },
	}
}

func (*toolConfig) Outputs() []string { return []string{"out", "error"} }

func (*toolConfig) Check(*flow.Checker) {}

func (cfg *toolConfig) Refer(c *flow.Checker, env *flow.Environment) {
	if c.Server(cfg.Server, env, "server") {
		c.Tool(cfg.Server, cfg.Tool, env, "tool")
	}
}

// Step calls the tool.
func (cfg *toolConfig) Step(t *flow.Turn) (flow.Exit, error) {
	r, err := cfg.request(t)
	if err != nil {
		return flow.Exit{}, err
	}
	t.Note(map[string]any{"server": cfg.Server, "tool": cfg.Tool, "arguments": flow.ValueOf(r.Arguments)}, nil)
	return t.Call(cfg.effect(r))
}

func (cfg *toolConfig) request(t *flow.Turn) (flow.ToolRequest, error) {
	args, err := t.All(cfg.Arguments)
	return flow.ToolRequest{Server: cfg.Server, Tool: cfg.Tool, Arguments: args, Auto: cfg.Idempotency == "auto"}, err
}

func (cfg *toolConfig) effect(r flow.ToolRequest) flow.Call {
	return flow.Call{Kind: flow.CallTool, Once: cfg.once(), Timeout: cfg.Timeout, Request: r}
}

func (cfg *toolConfig) once() bool { return cfg.Idempotency != "safe" }

// Resume takes the result of the tool, or calls it again.
func (cfg *toolConfig) Resume(t *flow.Turn, in flow.Input) (flow.Exit, error) {
	done, ok := in.(flow.EffectDone)
	switch {
	case !ok:
		r, err := cfg.request(t)
		if err != nil {
			return flow.Exit{}, err
		}
		return t.Call(cfg.effect(r))
	case done.Err != nil:
		return t.Again(cfg.Retry, done.Err, cfg.once() && !done.Err.Safe())
	}
	v, err := values.Admit(done.Result)
	if err != nil {
		return flow.Exit{}, err
	}
	t.Note(nil, map[string]any{"result": v})
	if err := t.Save(cfg.SaveTo, v); err != nil {
		return flow.Exit{}, err
	}
	return flow.Out("out"), nil
}
