package node

import (
	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
)

// loopConfig runs the nodes behind its output body again and again.
type loopConfig struct {
	Kind        string          `json:"kind" required:"true" enum:"count,each,while" doc:"So many times, for each item of a list, or while something is true."`
	Times       flow.Expression `json:"times" want:"number" doc:"count: how often, at most 1000; evaluated once."`
	Items       flow.Expression `json:"items" want:"list" doc:"each: the list, at most 1000 items; evaluated once."`
	While       flow.Expression `json:"while" want:"boolean" scope:"loop" doc:"while: evaluated before each round."`
	Item        string          `json:"item" default:"item" pattern:"variable" doc:"What expressions in the body call the item; of count and while it is the index."`
	Index       string          `json:"index" default:"index" pattern:"variable" doc:"What they call the number of the round, from 0."`
	Max         int             `json:"max" default:"100" min:"1" max:"1000" doc:"Rounds at most; then it leaves through limit."`
	Collect     *collectConfig  `json:"collect" doc:"Gathers a value of each round."`
	OnItemError string          `json:"onItemError" default:"fail" enum:"fail,continue" doc:"What an error in the body does: end the loop through error, or go on with the next round."`
}

type collectConfig struct {
	Var   string          `json:"var" required:"true" pattern:"variable" writes:"true" doc:"Variable that takes the list."`
	Value flow.Expression `json:"value" required:"true" scope:"loop" doc:"Evaluated at the end of each round."`
}

func loopType() flow.NodeType {
	return flow.NodeType{
		Name: "loop", Group: "flow", Text: "Repeats the nodes behind body; a round ends where a path has no next node.",
		Engines: flow.Modern(), Pass: "done",
		Outputs: []flow.Output{
			{Name: "body", Text: "one round"},
			{Name: "done", Text: "after the last round, or break"},
			{Name: "limit", Text: "max is reached (not wired: done)"},
			{Name: "error", Text: "an error in the body, or its list is none"},
		},
		Errors: []string{"expression.type", "expression.value", "loop.items", "loop.times"},
		Config: func() flow.Config { return &loopConfig{} },
	}
}

func (*loopConfig) Outputs() []string { return []string{"body", "done", "limit", "error"} }

func (l *loopConfig) Check(c *flow.Checker) {
	for _, of := range []struct {
		kind  string
		given bool
		name  string
	}{{"count", l.Times.Present(), "times"}, {"each", l.Items.Present(), "items"}, {"while", l.While.Present(), "while"}} {
		if l.Kind == of.kind {
			c.Need(of.given, of.name)
		} else if of.given {
			c.Warn("loop.unused", of.name+" is not used by a loop of kind "+l.Kind, "", of.name)
		}
	}
	if l.Item == l.Index {
		c.Problem("loop.names", "item and index have the same name", "give one of them another", "index")
	}
	if l.Collect != nil {
		c.Saves(l.Collect.Var, expression.List, "collect", "var")
	}
	c.OwnRoot(l.Item, "item")
	c.OwnRoot(l.Index, "index")
}

func (l *loopConfig) LoopRole() flow.LoopRole {
	return flow.LoopRole{Item: l.Item, Index: l.Index, Numbers: l.Kind != "each", Collects: l.Collect != nil, GoesOn: l.OnItemError == "continue"}
}
