package flow

// gotoConfig goes on at another node of the same graph.
type gotoConfig struct {
	Node string `json:"node" required:"true" pattern:"node" doc:"Id of the node."`
}

func gotoType() NodeType {
	return NodeType{
		Name: "goto", Group: "flow", Text: "Goes on at another node, without a line across the canvas.",
		Config: func() Config { return &gotoConfig{} },
	}
}

func (*gotoConfig) Outputs() []string { return nil }

func (g *gotoConfig) Check(c *Checker) { c.leadsTo(g.Node, "node") }

func (g *gotoConfig) target() string { return g.Node }
