package node

import (
	"slices"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// agentConfig lets a model work with tools.
type agentConfig struct {
	Model        string        `json:"model" required:"true" max:"128" pattern:"model" doc:"provider/model"`
	Instructions flow.Text     `json:"instructions" max:"32768" doc:"What the model is told before all else."`
	Input        flow.Text     `json:"input" default:"{{ input.text }}" max:"32768" doc:"What it answers to."`
	Memory       memoryConfig  `json:"memory" doc:"What it knows of earlier."`
	Servers      []string      `json:"servers" max:"10" itemMin:"1" itemMax:"64" doc:"Names of MCP servers whose tools it may use."`
	Tools        []string      `json:"tools" max:"20" itemMin:"1" itemMax:"200" doc:"Which tools: server/tool, or a function of the registry. * is all of them."`
	Functions    []string      `json:"functions" max:"20" itemMin:"1" itemMax:"64" doc:"Slugs of functions of the project that it may call."`
	Approval     string        `json:"approval" default:"destructive" enum:"never,destructive,always" doc:"Which calls a person must approve."`
	MaxSteps     int           `json:"maxSteps" default:"10" min:"1" max:"50" doc:"Answers of the model at most."`
	MaxToolCalls int           `json:"maxToolCalls" default:"25" min:"1" max:"200" doc:"Calls at most."`
	TokenBudget  int           `json:"tokenBudget" default:"50000" min:"1000" max:"1000000" doc:"Tokens at most, in and out."`
	ToolTimeout  time.Duration `json:"toolTimeout" default:"PT15S" min:"PT1S" max:"PT300S" doc:"Of each call."`
	Timeout      time.Duration `json:"timeout" default:"PT2M" min:"PT1S" max:"PT1H" doc:"Of all of it, waits for people aside."`
	Output       outputConfig  `json:"output" doc:"What it must answer in the end."`
	Send         bool          `json:"send" default:"true" doc:"Whether the answer is sent to the chat."`
	Converse     bool          `json:"converse" default:"false" doc:"Whether it may ask the contact and wait for replies."`
	SaveTo       string        `json:"saveTo" pattern:"variable" writes:"true" doc:"Variable that takes the answer."`
}

func agentType() flow.NodeType {
	return flow.NodeType{
		Name: "agent", Group: "ai", Text: "Lets a model work with tools until it has an answer.",
		Engines: flow.Modern(), Effect: "llm", Wait: "approval",
		Outputs: []flow.Output{
			{Name: "out", Text: "an answer"},
			{Name: "limit", Text: "steps, calls or tokens are used up"},
			{Name: "denied", Text: "a person refused a call"},
			{Name: "handoff", Text: "it asks for a person"},
			{Name: "invalid", Text: "an answer that does not fit the schema"},
			{Name: "error", Text: "no answer"},
		},
		Errors: []string{"llm.timeout", "llm.rate_limited", "llm.context_too_long", "llm.content_filter", "budget.exceeded", "output.schema", "mcp.connect", "mcp.timeout"},
		Config: func() flow.Config { return &agentConfig{} },
	}
}

func (*agentConfig) Outputs() []string {
	return []string{"out", "limit", "denied", "handoff", "invalid", "error"}
}

func (a *agentConfig) Check(c *flow.Checker) {
	a.Output.check(c, "output")
	for i, tool := range a.Tools {
		if tool == "*" || strings.HasSuffix(tool, "/*") {
			c.Warn("agent.all_tools", "the agent may use every tool, also those that are added later", "name the tools that it needs", "tools", i)
		} else if server, _, named := strings.Cut(tool, "/"); named && !slices.Contains(a.Servers, server) {
			c.Problem("agent.server", server+" is not one of the agent's servers", values.DidYouMean(server, a.Servers), "tools", i)
		}
	}
	for i, slug := range a.Functions {
		if !flow.Patterns["slug"].MatchString(slug) {
			c.Problem("shape.pattern", "is no slug", "", "functions", i)
		}
	}
}

func (a *agentConfig) UsesFunctions(yield func(string, []any) bool) {
	for i, slug := range a.Functions {
		if !yield(slug, []any{"functions", i}) {
			return
		}
	}
}
