package node

import (
	"slices"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// callConfig is the configuration of a node that calls a function.
type callConfig struct {
	Function string               `json:"function" required:"true" pattern:"slug" doc:"Slug of a function of the same project."`
	Args     map[string]flow.Data `json:"args" max:"32" doc:"Arguments of the function."`
	SaveTo   string               `json:"saveTo" pattern:"variable" writes:"true" doc:"Name of the variable in which the returned value is stored."`
	Timeout  time.Duration        `json:"timeout" default:"P3D" min:"PT1S" max:"P90D" doc:"How long the function may take, including waits."`
}

func callType() flow.NodeType {
	return flow.NodeType{
		Name: "call", Group: "flow", Text: "Calls a function. The function has its own variables.",
		Engines: modern(),
		Outputs: []flow.Output{
			{Name: "out", Text: "the function has returned"},
			{Name: "return:<name>", Text: "the function has returned with that name (if not connected: out)"},
			{Name: "timeout", Text: "the function took too long"},
			{Name: "error", Text: "the function failed"},
		},
		Errors: []string{"value.type", "function.not_found"},
		Config: func() flow.Config { return &callConfig{} },
	}
}

func (*callConfig) Outputs() []string { return []string{"out", "timeout", "error", "return:*"} }

func (cfg *callConfig) Check(c *flow.Checker) { c.Saves(cfg.SaveTo, expression.Map, "saveTo") }

func (cfg *callConfig) SavesTo() string { return cfg.SaveTo }

func (cfg *callConfig) UsesFunctions(yield func(string, []any) bool) {
	if cfg.Function != "" {
		yield(cfg.Function, []any{"function"})
	}
}

func (cfg *callConfig) Refer(k *flow.Checker, env *flow.Environment) {
	if env.Functions == nil {
		return
	}
	f := k.Function(cfg.Function, env, "function")
	if f == nil {
		return
	}
	k.Given("call.args", "argument", cfg.Args, f.Args, "args")
	returns := f.ReturnNames()
	for _, output := range k.Wired() {
		if name, ok := strings.CutPrefix(output, "return:"); ok && !slices.Contains(returns, name) {
			k.Next("graph.output", output, "the function does not return "+name, values.DidYouMean(name, returns))
		}
	}
}

// Step calls the function, which has its own variables.
func (cfg *callConfig) Step(t *flow.Turn) (flow.Exit, error) {
	return t.CallFunction(cfg.Function, cfg.Args, cfg.Timeout)
}
