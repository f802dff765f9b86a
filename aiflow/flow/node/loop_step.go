package node

import (
	"fmt"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// Codes of loops that cannot begin.
const (
	codeLoopItems = "loop.items"
	codeLoopTimes = "loop.times"
)

// Step begins the loop, or ends a round of it: every way back to the node
// does, whether drawn or not.
func (c *loopConfig) Step(t *flow.Turn) (flow.Exit, error) {
	i := t.LoopIndex(t.Node.Id)
	if i < 0 {
		if err := c.begin(t); err != nil {
			return flow.Exit{}, err
		}
		return c.round(t)
	}
	t.PopTo(i)
	l := t.Top().Loop
	if err := c.collect(t, l); err != nil {
		return flow.Exit{}, err
	}
	l.Index++
	l.Failed = false
	t.ShowLoop(t.Top(), t.Graph())
	t.Path = nil
	return c.round(t)
}

// round begins the next round, or leaves.
func (c *loopConfig) round(t *flow.Turn) (flow.Exit, error) {
	l := t.Top().Loop
	more := l.Index < l.Count
	if l.Count < 0 {
		var err error
		if more, err = truth(t, c.While); err != nil {
			return flow.Exit{}, err
		}
	}
	switch {
	case !more:
		return loopOver(t, "done"), nil
	case l.Index >= c.Max && t.Node.Next["limit"] != nil:
		return loopOver(t, "limit"), nil
	case l.Index >= c.Max:
		return loopOver(t, "done"), nil
	}
	t.Row.Path = t.PathNow()
	return flow.Out("body"), nil
}

// loopOver ends the innermost loop and leaves by an output.
func loopOver(t *flow.Turn, output string) flow.Exit {
	t.Pop()
	t.Row.Path = t.PathNow()
	return flow.Out(output)
}

// begin evaluates what the loop goes over, once.
func (c *loopConfig) begin(t *flow.Turn) error {
	l := &flow.Loop{Count: -1}
	var err error
	switch c.Kind {
	case "each":
		l.Items, err = c.items(t)
		l.Count = len(l.Items)
	case "count":
		l.Count, err = c.times(t)
	}
	if err != nil {
		return err
	}
	if c.Collect != nil {
		if err := t.Set(c.Collect.Var, []any{}); err != nil {
			return err
		}
	}
	return enter(t, flow.Frame{Node: t.Node.Id, Loop: l}, t.Graph())
}

func (c *loopConfig) items(t *flow.Turn) ([]any, error) {
	v, err := t.Eval(c.Items)
	if err != nil {
		return nil, err
	}
	if v, err = flow.Admit(v); err != nil {
		return nil, flow.At(err, "items")
	}
	if v == nil {
		return []any{}, nil
	}
	items, ok := v.([]any)
	if !ok {
		return nil, &flow.Error{Code: codeLoopItems, Message: "items is no list"}
	}
	return items, nil
}

func (c *loopConfig) times(t *flow.Turn) (int, error) {
	v, err := t.Eval(c.Times)
	if err != nil {
		return 0, err
	}
	n, ok := v.(int)
	if !ok || n < 0 || n > values.MaxList {
		return 0, &flow.Error{Code: codeLoopTimes, Message: fmt.Sprintf("times must be a whole number from 0 to %d", values.MaxList)}
	}
	return n, nil
}

// collect keeps a value of the round that ended, unless it failed.
func (c *loopConfig) collect(t *flow.Turn, l *flow.Loop) error {
	if c.Collect == nil || l.Failed {
		return nil
	}
	v, err := t.Eval(c.Collect.Value)
	if err != nil {
		return err
	}
	return appendTo(t, c.Collect.Var, v)
}
