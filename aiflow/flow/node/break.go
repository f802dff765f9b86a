package node

import (
	"github.com/trunklinehq/trunkline/aiflow/flow"
)

// breakConfig and continueConfig have no members.
type (
	breakConfig    struct{}
	continueConfig struct{}
)

func breakType() flow.NodeType {
	return flow.NodeType{
		Name: "break", Group: "flow", Text: "Ends the loop, which continues at its output done.",
		Engines: modern(), Config: func() flow.Config { return &breakConfig{} },
	}
}

func continueType() flow.NodeType {
	return flow.NodeType{
		Name: "continue", Group: "flow", Text: "Ends this round of the loop.",
		Engines: modern(), Config: func() flow.Config { return &continueConfig{} },
	}
}

func (*breakConfig) Outputs() []string        { return nil }
func (*breakConfig) Check(c *flow.Checker)    { c.InLoop() }
func (*continueConfig) Outputs() []string     { return nil }
func (*continueConfig) Check(c *flow.Checker) { c.InLoop() }

// Step leaves the loop around the node.
func (*breakConfig) Step(t *flow.Turn) (flow.Exit, error) { return t.Break() }

// Step goes to the next round of the loop around the node.
func (*continueConfig) Step(t *flow.Turn) (flow.Exit, error) { return t.Continue() }
