package flow

import (
	"fmt"

	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// Codes of loops that cannot begin.
const (
	codeLoopItems = "loop.items"
	codeLoopTimes = "loop.times"
)

// Step begins the loop, or ends a round of it: every way back to the node
// does, whether drawn or not.
func (c *loopConfig) Step(t *Turn) (Exit, error) {
	i := t.loopIndex(t.node.id)
	if i < 0 {
		if err := c.begin(t); err != nil {
			return Exit{}, err
		}
		return c.round(t)
	}
	t.popTo(i)
	l := t.top().Loop
	if err := c.collect(t, l); err != nil {
		return Exit{}, err
	}
	l.Index++
	l.Failed = false
	t.showLoop(t.top(), t.graph())
	t.path = nil
	return c.round(t)
}

// round begins the next round, or leaves.
func (c *loopConfig) round(t *Turn) (Exit, error) {
	l := t.top().Loop
	more := l.Index < l.Count
	if l.Count < 0 {
		var err error
		if more, err = truth(t, c.While); err != nil {
			return Exit{}, err
		}
	}
	switch {
	case !more:
		return loopOver(t, "done"), nil
	case l.Index >= c.Max && t.node.next["limit"] != nil:
		return loopOver(t, "limit"), nil
	case l.Index >= c.Max:
		return loopOver(t, "done"), nil
	}
	t.row.Path = t.pathNow()
	return Out("body"), nil
}

// loopOver ends the innermost loop and leaves by an output.
func loopOver(t *Turn, output string) Exit {
	t.pop()
	t.row.Path = t.pathNow()
	return Out(output)
}

// begin evaluates what the loop goes over, once.
func (c *loopConfig) begin(t *Turn) error {
	l := &Loop{Count: -1}
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
	return enter(t, Frame{Node: t.node.id, Loop: l}, t.graph())
}

func (c *loopConfig) items(t *Turn) ([]any, error) {
	v, err := t.Eval(c.Items)
	if err != nil {
		return nil, err
	}
	if v, err = admit(v); err != nil {
		return nil, at(err, "items")
	}
	if v == nil {
		return []any{}, nil
	}
	items, ok := v.([]any)
	if !ok {
		return nil, &Error{Code: codeLoopItems, Message: "items is no list"}
	}
	return items, nil
}

func (c *loopConfig) times(t *Turn) (int, error) {
	v, err := t.Eval(c.Times)
	if err != nil {
		return 0, err
	}
	n, ok := v.(int)
	if !ok || n < 0 || n > values.MaxList {
		return 0, &Error{Code: codeLoopTimes, Message: fmt.Sprintf("times must be a whole number from 0 to %d", values.MaxList)}
	}
	return n, nil
}

// collect keeps a value of the round that ended, unless it failed.
func (c *loopConfig) collect(t *Turn, l *Loop) error {
	if c.Collect == nil || l.Failed {
		return nil
	}
	v, err := t.Eval(c.Collect.Value)
	if err != nil {
		return err
	}
	return appendTo(t, c.Collect.Var, v)
}
