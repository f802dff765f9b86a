package node

import (
	"slices"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// agentConfig is the configuration of a node in which a model works with tools.
type agentConfig struct {
	Model        string        `json:"model" required:"true" max:"128" pattern:"model" doc:"The model, as provider/model."`
	Instructions flow.Text     `json:"instructions" max:"32768" doc:"The system prompt of the model."`
	Input        flow.Text     `json:"input" default:"{{ input.text }}" max:"32768" doc:"The text that the model answers."`
	Memory       memoryConfig  `json:"memory" doc:"Which earlier messages the model sees."`
	Servers      []string      `json:"servers" max:"10" itemMin:"1" itemMax:"64" doc:"Names of MCP servers whose tools the agent may use."`
	Tools        []string      `json:"tools" max:"20" itemMin:"1" itemMax:"200" doc:"Tools that the agent may use: server/tool, or a function of the registry. * means all."`
	Functions    []string      `json:"functions" max:"20" itemMin:"1" itemMax:"64" doc:"Slugs of functions of the project that the agent may call."`
	Approval     string        `json:"approval" default:"destructive" enum:"never,destructive,always" doc:"Which calls a person must approve."`
	MaxSteps     int           `json:"maxSteps" default:"10" min:"1" max:"50" doc:"Maximum number of answers of the model."`
	MaxToolCalls int           `json:"maxToolCalls" default:"25" min:"1" max:"200" doc:"Maximum number of tool calls."`
	TokenBudget  int           `json:"tokenBudget" default:"50000" min:"1000" max:"1000000" doc:"Maximum number of input and output tokens."`
	ToolTimeout  time.Duration `json:"toolTimeout" default:"PT15S" min:"PT1S" max:"PT300S" doc:"Maximum duration of each call."`
	Timeout      time.Duration `json:"timeout" default:"PT2M" min:"PT1S" max:"PT1H" doc:"Maximum duration in total, without the time that it waits for people."`
	Output       outputConfig  `json:"output" doc:"Form of the final answer."`
	Send         bool          `json:"send" default:"true" doc:"Whether the answer is sent to the chat."`
	Converse     bool          `json:"converse" default:"false" doc:"Whether the agent may ask the contact and wait for replies."`
	SaveTo       string        `json:"saveTo" pattern:"variable" writes:"true" doc:"Name of the variable in which the answer is stored."`
}

func agentType() flow.NodeType {
	return flow.NodeType{
		Name: "agent", Group: "ai", Text: "Lets a model work with tools until it has an answer.",
		Engines: modern(), Effect: "llm", Wait: "approval",
		Outputs: []flow.Output{
			{Name: "out", Text: "the model has answered"},
			{Name: "limit", Text: "a limit of steps, calls or tokens is reached"},
			{Name: "denied", Text: "a person has refused a call"},
			{Name: "handoff", Text: "the model asks for a person"},
			{Name: "invalid", Text: "the answer does not fit the schema"},
			{Name: "error", Text: "the model did not answer"},
		},
		Errors: []string{"llm.timeout", "llm.rate_limited", "llm.context_too_long", "llm.content_filter", "budget.exceeded", "output.schema", "mcp.connect", "mcp.timeout"},
		Config: func() flow.Config { return &agentConfig{} },
	}
}

func (*agentConfig) Outputs() []string {
	return []string{"out", "limit", "denied", "handoff", "invalid", "error"}
}

func (cfg *agentConfig) Check(c *flow.Checker) {
	cfg.Output.check(c, "output")
	for i, tool := range cfg.Tools {
		if tool == "*" || strings.HasSuffix(tool, "/*") {
			c.Warn("agent.all_tools", "the agent can use every tool, including those that are added later", "name the tools that it needs", "tools", i)
		} else if server, _, named := strings.Cut(tool, "/"); named && !slices.Contains(cfg.Servers, server) {
			c.Problem("agent.server", server+" is not one of the agent's servers", values.DidYouMean(server, cfg.Servers), "tools", i)
		}
	}
	for i, slug := range cfg.Functions {
		if !values.Patterns["slug"]().MatchString(slug) {
			c.Problem("shape.pattern", "is not a slug", "", "functions", i)
		}
	}
}

func (cfg *agentConfig) UsesFunctions(yield func(string, []any) bool) {
	for i, slug := range cfg.Functions {
		if !yield(slug, []any{"functions", i}) {
			return
		}
	}
}

func (cfg *agentConfig) Refer(c *flow.Checker, env *flow.Environment) {
	c.Model(cfg.Model, env, "model")
	for i, slug := range cfg.Functions {
		if env.Functions != nil {
			c.Function(slug, env, "functions", i)
		}
	}
	for i, name := range cfg.Servers {
		c.Server(name, env, "servers", i)
	}
	for i, tool := range cfg.Tools {
		server, name, remote := strings.Cut(tool, "/")
		switch {
		case tool == "*" || name == "*":
		case remote:
			c.Tool(server, name, env, "tools", i)
		default:
			c.Refer("tool", tool, env.Tools, "tools", i)
		}
	}
}

// approvalTime is how long an agent waits for an approval.
const approvalTime = 24 * time.Hour

// Step starts the agent.
func (cfg *agentConfig) Step(t *flow.Turn) (flow.Exit, error) {
	r, err := cfg.request(t)
	if err != nil {
		return flow.Exit{}, err
	}
	t.Note(map[string]any{"model": cfg.Model, "input": r.Input}, nil)
	return cfg.call(t, r)
}

func (cfg *agentConfig) call(t *flow.Turn, r flow.ModelRequest) (flow.Exit, error) {
	return t.Call(flow.Call{Kind: flow.CallAgent, Timeout: cfg.Timeout, Request: r})
}

func (cfg *agentConfig) request(t *flow.Turn) (flow.ModelRequest, error) {
	r := flow.ModelRequest{Model: cfg.Model, Memory: cfg.Memory.asked(), Message: values.TextOf(t.State.Input["id"]), Attachments: t.State.Input["media"], Agent: &flow.AgentRequest{
		Servers: cfg.Servers, Tools: cfg.Tools, Functions: cfg.Functions, Approval: cfg.Approval, MaxSteps: cfg.MaxSteps,
		MaxToolCalls: cfg.MaxToolCalls, TokenBudget: cfg.TokenBudget, ToolTimeout: cfg.ToolTimeout, Converse: cfg.Converse,
		Outputs: t.Outputs(),
	}}
	cfg.Output.ask(&r)
	return r, prompt(t, &r, cfg.Instructions, cfg.Input)
}

// Resume takes the agent's answer, or continues with a reply or an approval.
func (cfg *agentConfig) Resume(t *flow.Turn, in flow.Input) (flow.Exit, error) {
	switch in := in.(type) {
	case flow.EffectDone:
		return cfg.done(t, in)
	case flow.Reply:
		return cfg.goOn(t, func(r *flow.ModelRequest) { r.Input = values.TextOf(t.State.Input["text"]) })
	case flow.Approval:
		t.Note(map[string]any{"approved": in.Approved}, nil)
		return cfg.goOn(t, func(r *flow.ModelRequest) { r.Agent.Approved, r.Agent.ApprovedAt = &in.Approved, t.World.Now })
	}
	if t.WaitedFor.Kind == flow.WaitApproval {
		return flow.Out("denied"), nil
	}
	return flow.Exit{}, &flow.Error{Code: codeNoReply, Message: "the contact did not answer the agent"}
}

func (cfg *agentConfig) goOn(t *flow.Turn, change func(*flow.ModelRequest)) (flow.Exit, error) {
	r, err := cfg.request(t)
	if err != nil {
		return flow.Exit{}, err
	}
	r.Agent.Resume = t.WaitedFor.Data
	change(&r)
	return cfg.call(t, r)
}

func (cfg *agentConfig) done(t *flow.Turn, done flow.EffectDone) (flow.Exit, error) {
	if done.Err != nil {
		return flow.Exit{}, done.Err
	}
	r, err := flow.Result[flow.ModelResult](done)
	if err != nil {
		return flow.Exit{}, err
	}
	t.Note(nil, traced(&r, nil))
	kept, err := values.Admit(r.Resume)
	if err != nil {
		return flow.Exit{}, err
	}
	switch r.Finish {
	case flow.FinishDone:
		return answerModel(t, r, cfg.Output.Mode, cfg.Send, cfg.SaveTo)
	case flow.FinishAsk:
		if !cfg.Converse {
			return flow.Exit{}, unexpected(r.Finish)
		}
		return cfg.ask(t, r.Text, kept)
	case flow.FinishApproval:
		return cfg.approve(t, r, kept)
	case flow.FinishInvalid:
		return flow.Out("invalid"), nil
	case flow.FinishLimit, flow.FinishDenied, flow.FinishHandoff:
		return flow.Out(string(r.Finish)), nil
	}
	return flow.Exit{}, unexpected(r.Finish)
}

// ask sends the agent's question and waits for the reply.
func (cfg *agentConfig) ask(t *flow.Turn, question string, kept any) (flow.Exit, error) {
	if err := speak(t, question); err != nil {
		return flow.Exit{}, err
	}
	w := flow.Wait{Kind: flow.WaitReply, Data: kept}
	if d := t.ReplyTimeout(); d > 0 {
		w.Until = t.World.Now.Add(d)
		w.Timer = t.SetTimer(w.Until)
	}
	return t.Wait(w), nil
}

// approve shows a tool call and waits for an approval.
func (cfg *agentConfig) approve(t *flow.Turn, r flow.ModelResult, kept any) (flow.Exit, error) {
	arguments, err := values.Admit(r.Arguments)
	if err != nil {
		return flow.Exit{}, err
	}
	ask := flow.Ask{Node: t.NodeID(), Tool: r.Tool, Arguments: arguments}
	err = t.Emit(func(id string) flow.Effect { ask.ID = id; return ask })
	if err != nil {
		return flow.Exit{}, err
	}
	t.Note(nil, traced(&r, map[string]any{"stepId": ask.ID, "tool": r.Tool, "arguments": arguments}))
	until := t.World.Now.Add(approvalTime)
	return t.Wait(flow.Wait{Kind: flow.WaitApproval, ID: ask.ID, Timer: t.SetTimer(until), Until: until, Data: kept}), nil
}
