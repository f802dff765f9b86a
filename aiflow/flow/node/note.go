package node

import (
	"github.com/trunklinehq/trunkline/aiflow/flow"
)

// noteConfig is a note on the canvas.
type noteConfig struct {
	Text string `json:"text" max:"4000" doc:"Text of the note. It has no effect on the flow."`
}

func noteType() flow.NodeType {
	return flow.NodeType{
		Name: "note", Group: "flow", Text: "A note for people. It has no connections and no effect.",
		Config: func() flow.Config { return &noteConfig{} },
	}
}

func (*noteConfig) Outputs() []string   { return nil }
func (*noteConfig) Check(*flow.Checker) {}

// Step ends the path. A run never comes here: no connection may lead to a note.
func (*noteConfig) Step(*flow.Turn) (flow.Exit, error) { return flow.EndPath(), nil }
