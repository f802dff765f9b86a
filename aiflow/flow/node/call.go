package node

import (
	"slices"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// callConfig calls a function and goes on with what it returned.
type callConfig struct {
	Function string               `json:"function" required:"true" pattern:"slug" doc:"Slug of a function of the same project."`
	Args     map[string]flow.Data `json:"args" max:"32" doc:"Its arguments."`
	SaveTo   string               `json:"saveTo" pattern:"variable" writes:"true" doc:"Variable that takes what it returned."`
	Timeout  time.Duration        `json:"timeout" default:"P3D" min:"PT1S" max:"P90D" doc:"How long it may take, waits included."`
}

func callType() flow.NodeType {
	return flow.NodeType{
		Name: "call", Group: "flow", Text: "Calls a function, which has variables of its own.",
		Engines: flow.Modern(),
		Outputs: []flow.Output{
			{Name: "out", Text: "it returned"},
			{Name: "return:<name>", Text: "it returned with that name (not wired: out)"},
			{Name: "timeout", Text: "it took too long"},
			{Name: "error", Text: "it failed"},
		},
		Errors: []string{"value.type", "function.not_found"},
		Config: func() flow.Config { return &callConfig{} },
	}
}

func (*callConfig) Outputs() []string { return []string{"out", "timeout", "error", "return:*"} }

func (k *callConfig) Check(c *flow.Checker) { c.Saves(k.SaveTo, expression.Map, "saveTo") }

func (c *callConfig) SavesTo() string { return c.SaveTo }

func (c *callConfig) UsesFunctions(yield func(string, []any) bool) {
	if c.Function != "" {
		yield(c.Function, []any{"function"})
	}
}

func (c *callConfig) Refer(k *flow.Checker, env *flow.Environment) {
	if env.Functions == nil {
		return
	}
	f := k.Function(c.Function, env, "function")
	if f == nil {
		return
	}
	k.Given("call.args", "argument", c.Args, f.Args, "args")
	returns := f.ReturnNames()
	for _, output := range k.Wired() {
		if name, ok := strings.CutPrefix(output, "return:"); ok && !slices.Contains(returns, name) {
			k.Next("graph.output", output, "the function does not return "+name, values.DidYouMean(name, returns))
		}
	}
}

// Step begins a function, with variables of its own.
func (c *callConfig) Step(t *flow.Turn) (flow.Exit, error) {
	g := t.Graph().Called[c.Function]
	if g == nil {
		return flow.Exit{}, &flow.Error{Code: "function.not_found", Message: "there is no function " + c.Function}
	}
	args, err := t.All(c.Args)
	if err != nil {
		return flow.Exit{}, err
	}
	t.Note(args, nil)
	if args, err = flow.ConformAll("args", args, g.Args); err != nil {
		return flow.Exit{}, err
	}
	f := flow.Frame{Node: t.Node.ID, Function: c.Function, Vars: g.Initial(), Args: args}
	if c.Timeout > 0 {
		f.Deadline = t.World.Now.Add(c.Timeout)
	}
	return flow.Exit{Kind: flow.ExitNode, Node: g.Start}, enter(t, f, g)
}

// enter begins a call or a loop, unless there are too many around it.
func enter(t *flow.Turn, f flow.Frame, g *flow.Program) error {
	if len(t.State.Frames) > flow.LimitRunFrames {
		return flow.OverLimit(flow.CodeRunFrames, "more than %d calls and loops stand inside each other%s", flow.LimitRunFrames, flow.Repeated(t.Recent))
	}
	t.Push(f, g)
	return nil
}

// Step ends the function and gives values back.
func (c *returnConfig) Step(t *flow.Turn) (flow.Exit, error) {
	values, err := t.All(c.Value)
	if err != nil {
		return flow.Exit{}, err
	}
	if values, err = flow.ConformAll("returns", values, t.Graph().Returns); err != nil {
		return flow.Exit{}, err
	}
	if len(t.State.Frames) == 1 || t.Base == 0 {
		return t.End(flow.Ending{Status: flow.StatusCompleted, Output: flow.ValueOf(values)}), nil
	}
	t.Note(nil, map[string]any{"name": c.Name, "value": flow.ValueOf(values)})
	return flow.Exit{Kind: flow.ExitReturn, Output: c.Name, Value: flow.ValueOf(values)}, nil
}
