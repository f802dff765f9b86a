package node

import (
	"github.com/trunklinehq/trunkline/aiflow/flow"
)

// gotoConfig continues at another node of the same graph.
type gotoConfig struct {
	Node string `json:"node" required:"true" pattern:"node" doc:"Id of the node."`
}

func gotoType() flow.NodeType {
	return flow.NodeType{
		Name: "goto", Group: "flow", Text: "Continues at another node without a visible connection.",
		Config: func() flow.Config { return &gotoConfig{} },
	}
}

func (*gotoConfig) Outputs() []string { return nil }

func (cfg *gotoConfig) Check(c *flow.Checker) { c.LeadsTo(cfg.Node, "node") }

func (cfg *gotoConfig) Target() string { return cfg.Node }

// Step goes to the named node.
func (cfg *gotoConfig) Step(t *flow.Turn) (flow.Exit, error) { return t.Goto(cfg.Node) }
