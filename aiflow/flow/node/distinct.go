package node

import (
	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// distinct finds duplicates among values that must differ.
type distinct struct {
	checker *flow.Checker
	code    string
	seen    map[string]bool
}

// newDistinct returns an empty distinct.
func newDistinct(c *flow.Checker, code string) distinct { return distinct{c, code, map[string]bool{}} }

// see reports a duplicate, and remembers the value.
func (d distinct) see(what string, at []any) {
	if d.seen[what] {
		d.checker.Problem(d.code, "the "+values.Shorten(what)+" is given twice", "", at...)
	}
	d.seen[what] = true
}

// text is like see for a text without expressions.
func (d distinct) text(what string, t flow.Text, at []any) {
	if text, constant := t.Constant(); constant && text != "" {
		d.see(what+" "+text, at)
	}
}
