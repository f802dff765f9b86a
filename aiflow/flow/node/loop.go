package node

import (
	"fmt"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// loopConfig is the configuration of a node that repeats the nodes after its output
// body.
type loopConfig struct {
	Kind        string          `json:"kind" required:"true" enum:"count,each,while" doc:"count: a fixed number of rounds; each: one round for each item of a list; while: as long as a condition is true."`
	Times       flow.Expression `json:"times" want:"number" doc:"count: number of rounds, at most 1000; evaluated once."`
	Items       flow.Expression `json:"items" want:"list" doc:"each: the list, of at most 1000 items; evaluated once."`
	While       flow.Expression `json:"while" want:"boolean" scope:"loop" doc:"while: the condition, evaluated before each round."`
	Item        string          `json:"item" default:"item" pattern:"variable" doc:"Name of the item in expressions of the body. With count and while it is the index."`
	Index       string          `json:"index" default:"index" pattern:"variable" doc:"Name of the round's number in expressions of the body, from 0."`
	Max         int             `json:"max" default:"100" min:"1" max:"1000" doc:"Maximum number of rounds; after that, the node continues at the output limit."`
	Collect     *collectConfig  `json:"collect" doc:"Collects one value of each round in a list."`
	OnItemError string          `json:"onItemError" default:"fail" enum:"fail,continue" doc:"What happens after an error in the body: end the loop at the output error, or continue with the next round."`
}

type collectConfig struct {
	Var   string          `json:"var" required:"true" pattern:"variable" writes:"true" doc:"Name of the variable in which the list is stored."`
	Value flow.Expression `json:"value" required:"true" scope:"loop" doc:"The value to collect, evaluated at the end of each round."`
}

func loopType() flow.NodeType {
	return flow.NodeType{
		Name: "loop", Group: "flow", Text: "Repeats the nodes after its output body. A round ends where a path has no next node.",
		Engines: modern(), Pass: "done",
		Outputs: []flow.Output{
			{Name: "body", Text: "start of a round"},
			{Name: "done", Text: "after the last round, or after a break"},
			{Name: "limit", Text: "max is reached (if not connected: done)"},
			{Name: "error", Text: "an error occurred in the body, or items is not a list"},
		},
		Errors: []string{"expression.type", "expression.value", "loop.items", "loop.times"},
		Config: func() flow.Config { return &loopConfig{} },
	}
}

func (*loopConfig) Outputs() []string { return []string{"body", "done", "limit", "error"} }

func (cfg *loopConfig) Check(c *flow.Checker) {
	for _, of := range []struct {
		kind  string
		given bool
		name  string
	}{{"count", cfg.Times.Present(), "times"}, {"each", cfg.Items.Present(), "items"}, {"while", cfg.While.Present(), "while"}} {
		if cfg.Kind == of.kind {
			c.Need(of.given, of.name)
		} else if of.given {
			c.Warn("loop.unused", of.name+" has no effect in a loop of kind "+cfg.Kind, "", of.name)
		}
	}
	if cfg.Item == cfg.Index {
		c.Problem("loop.names", "item and index have the same name", "rename one of them", "index")
	}
	if cfg.Collect != nil {
		c.Saves(cfg.Collect.Var, expression.List, "collect", "var")
	}
	c.OwnRoot(cfg.Item, "item")
	c.OwnRoot(cfg.Index, "index")
}

func (cfg *loopConfig) LoopRole() flow.LoopRole {
	return flow.LoopRole{Item: cfg.Item, Index: cfg.Index, Numbers: cfg.Kind != "each", Collects: cfg.Collect != nil, GoesOn: cfg.OnItemError == "continue"}
}

// Codes of loops that cannot start.
const (
	codeLoopItems = "loop.items"
	codeLoopTimes = "loop.times"
)

// Step starts the loop, or ends a round: every path that leads back to the node
// ends one, with or without a connection.
func (cfg *loopConfig) Step(t *flow.Turn) (flow.Exit, error) {
	l := t.BackToLoop()
	if l == nil {
		if err := cfg.begin(t); err != nil {
			return flow.Exit{}, err
		}
		return cfg.round(t)
	}
	if err := cfg.collect(t, l); err != nil {
		return flow.Exit{}, err
	}
	t.NextRound()
	return cfg.round(t)
}

// round starts the next round, or leaves the loop.
func (cfg *loopConfig) round(t *flow.Turn) (flow.Exit, error) {
	l := t.Loop()
	more := l.Index < l.Count
	if l.Count < 0 {
		var err error
		if more, err = truth(t, cfg.While); err != nil {
			return flow.Exit{}, err
		}
	}
	switch {
	case !more:
		return t.LeaveLoop("done"), nil
	case l.Index >= cfg.Max && t.Connected("limit"):
		return t.LeaveLoop("limit"), nil
	case l.Index >= cfg.Max:
		return t.LeaveLoop("done"), nil
	}
	return t.LoopBody(), nil
}

// begin evaluates the list or the number of rounds, once.
func (cfg *loopConfig) begin(t *flow.Turn) error {
	l := &flow.Loop{Count: -1}
	var err error
	switch cfg.Kind {
	case "each":
		l.Items, err = cfg.items(t)
		l.Count = len(l.Items)
	case "count":
		l.Count, err = cfg.times(t)
	}
	if err != nil {
		return err
	}
	if cfg.Collect != nil {
		if err := t.Set(cfg.Collect.Var, []any{}); err != nil {
			return err
		}
	}
	return t.BeginLoop(l)
}

func (cfg *loopConfig) items(t *flow.Turn) ([]any, error) {
	v, err := t.Eval(cfg.Items)
	if err != nil {
		return nil, err
	}
	if v, err = values.Admit(v); err != nil {
		return nil, values.At(err, "items")
	}
	if v == nil {
		return []any{}, nil
	}
	items, ok := v.([]any)
	if !ok {
		return nil, &flow.Error{Code: codeLoopItems, Message: "items must be a list"}
	}
	return items, nil
}

func (cfg *loopConfig) times(t *flow.Turn) (int, error) {
	v, err := t.Eval(cfg.Times)
	if err != nil {
		return 0, err
	}
	n, ok := v.(int)
	if !ok || n < 0 || n > values.MaxList {
		return 0, &flow.Error{Code: codeLoopTimes, Message: fmt.Sprintf("times must be a whole number from 0 to %d", values.MaxList)}
	}
	return n, nil
}

// collect keeps a value of the round that has ended, unless the round failed.
func (cfg *loopConfig) collect(t *flow.Turn, l *flow.Loop) error {
	if cfg.Collect == nil || l.Failed {
		return nil
	}
	v, err := t.Eval(cfg.Collect.Value)
	if err != nil {
		return err
	}
	return appendTo(t, cfg.Collect.Var, v)
}
