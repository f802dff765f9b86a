package flow

import (
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
)

// callConfig calls a function and goes on with what it returned.
type callConfig struct {
	Function string          `json:"function" required:"true" pattern:"slug" doc:"Slug of a function of the same project."`
	Args     map[string]Data `json:"args" max:"32" doc:"Its arguments."`
	SaveTo   string          `json:"saveTo" pattern:"variable" writes:"true" doc:"Variable that takes what it returned."`
	Timeout  time.Duration   `json:"timeout" default:"P3D" min:"PT1S" max:"P90D" doc:"How long it may take, waits included."`
}

func callType() NodeType {
	return NodeType{
		Name: "call", Group: "flow", Text: "Calls a function, which has variables of its own.",
		Engines: modern(),
		Outputs: []Output{
			{"out", "it returned"},
			{"return:<name>", "it returned with that name (not wired: out)"},
			{"timeout", "it took too long"},
			{"error", "it failed"},
		},
		Errors: []string{"value.type", "function.not_found"},
		Config: func() Config { return &callConfig{} },
	}
}

func (*callConfig) Outputs() []string { return []string{"out", "timeout", "error", "return:*"} }

func (k *callConfig) Check(c *Checker) { c.Saves(k.SaveTo, expression.Map, "saveTo") }

func (c *callConfig) savesTo() string { return c.SaveTo }

func (c *callConfig) usesFunctions(yield func(string, []any) bool) {
	if c.Function != "" {
		yield(c.Function, []any{"function"})
	}
}
