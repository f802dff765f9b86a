package flow

import (
	"fmt"

	"github.com/trunklinehq/trunkline/aiflow/flow/expression"
)

// Step takes the first branch that is true.
func (c *conditionConfig) Step(t *Turn) (Exit, error) {
	for i := range c.Branches {
		b := &c.Branches[i]
		yes, err := truth(t, b.When)
		switch {
		case err != nil && c.Strict:
			return Exit{}, fmt.Errorf("%s: %w", b.ID, err)
		case err != nil:
			t.row.Warning = b.ID + ": " + t.fault(err).Message
			return Out("else"), nil
		case yes:
			return Out(b.ID), nil
		}
	}
	return Out("else"), nil
}

// truth evaluates what must be true or false; nothing is false.
func truth(t *Turn, x Expression) (bool, error) {
	v, err := t.Eval(x)
	if err != nil {
		return false, err
	}
	return expression.Truth(v)
}
