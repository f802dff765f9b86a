package node

import (
	"fmt"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
)

// Step takes the first branch that is true.
func (c *conditionConfig) Step(t *flow.Turn) (flow.Exit, error) {
	for i := range c.Branches {
		b := &c.Branches[i]
		yes, err := truth(t, b.When)
		switch {
		case err != nil && c.Strict:
			return flow.Exit{}, fmt.Errorf("%s: %w", b.ID, err)
		case err != nil:
			t.Row.Warning = b.ID + ": " + t.Fault(err).Message
			return flow.Out("else"), nil
		case yes:
			return flow.Out(b.ID), nil
		}
	}
	return flow.Out("else"), nil
}

// truth evaluates what must be true or false; nothing is false.
func truth(t *flow.Turn, x flow.Expression) (bool, error) {
	v, err := t.Eval(x)
	if err != nil {
		return false, err
	}
	return expression.Truth(v)
}
