package node

import (
	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// distinct finds what is twice among things that must differ.
type distinct struct {
	checker *flow.Checker
	code    string
	seen    map[string]bool
}

// newDistinct returns one that has seen nothing.
func newDistinct(c *flow.Checker, code string) distinct { return distinct{c, code, map[string]bool{}} }

// see reports a name that was seen before, and remembers it.
func (d distinct) see(what string, at []any) {
	if d.seen[what] {
		d.checker.Problem(d.code, "the "+values.Shorten(what)+" stands twice", "", at...)
	}
	d.seen[what] = true
}

// text is see for a text, when it has no expressions.
func (d distinct) text(what string, t flow.Text, at []any) {
	if text, constant := t.Constant(); constant && text != "" {
		d.see(what+" "+text, at)
	}
}
