package node

import "github.com/trunklinehq/trunkline/aiflow/flow"

// randomConfig takes one of several ways by chance.
type randomConfig struct {
	Branches []randomBranch `json:"branches" required:"true" min:"2" max:"10" doc:"The ways."`
	Sticky   string         `json:"sticky" default:"run" enum:"run,contact" doc:"contact: the same contact always goes the same way."`
}

type randomBranch struct {
	ID     string `json:"id" required:"true" pattern:"id" doc:"Names the output."`
	Weight int    `json:"weight" default:"1" min:"1" max:"1000" doc:"Its share of the sum of all."`
}

func randomType() flow.NodeType {
	return flow.NodeType{
		Name: "random", Group: "flow", Text: "Takes one of several ways by chance, for experiments.",
		Outputs: []flow.Output{{Name: "<branch id>", Text: "the one that was drawn"}},
		Config:  func() flow.Config { return &randomConfig{} },
	}
}

func (r *randomConfig) Outputs() []string {
	outs := make([]string, len(r.Branches))
	for i, b := range r.Branches {
		outs[i] = b.ID
	}
	return outs
}

func (r *randomConfig) Check(c *flow.Checker) {
	for i, b := range r.Branches {
		c.OwnID(b.ID, "branches", i, "id")
	}
}

func (r *randomConfig) PassOutput() string {
	if len(r.Branches) == 0 {
		return ""
	}
	return r.Branches[0].ID
}
