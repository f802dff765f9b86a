package node

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/trunklinehq/trunkline/aiflow/flow"
)

// randomConfig is the configuration of a node that takes a random branch.
type randomConfig struct {
	Branches []randomBranch `json:"branches" required:"true" min:"2" max:"10" doc:"Branches, one of which is chosen at random."`
	Sticky   string         `json:"sticky" default:"run" enum:"run,contact" doc:"contact: the same contact always gets the same branch."`
}

type randomBranch struct {
	ID     string `json:"id" required:"true" pattern:"id" doc:"Id of the branch, which is the name of its output."`
	Weight int    `json:"weight" default:"1" min:"1" max:"1000" doc:"Weight of the branch. Its chance is its share of the sum of all weights."`
}

func randomType() flow.NodeType {
	return flow.NodeType{
		Name: "random", Group: "flow", Text: "Continues at a random branch, for experiments.",
		Outputs: []flow.Output{{Name: "<branch id>", Text: "the branch that was chosen"}},
		Config:  func() flow.Config { return &randomConfig{} },
	}
}

func (cfg *randomConfig) Outputs() []string {
	outs := make([]string, len(cfg.Branches))
	for i, b := range cfg.Branches {
		outs[i] = b.ID
	}
	return outs
}

func (cfg *randomConfig) Check(c *flow.Checker) {
	for i, b := range cfg.Branches {
		c.OwnID(b.ID, "branches", i, "id")
	}
}

func (cfg *randomConfig) PassOutput() string {
	if len(cfg.Branches) == 0 {
		return ""
	}
	return cfg.Branches[0].ID
}

// Step draws a branch. The draw depends only on the node and on the run or the
// contact, so that nothing has to be stored and a repeated turn draws the same
// branch.
func (cfg *randomConfig) Step(t *flow.Turn) (flow.Exit, error) {
	by := "run:" + t.World.Run.ID
	if id := fmt.Sprint(t.World.Chat["reference"], ":", t.World.Chat["id"]); cfg.Sticky == "contact" && t.World.Chat != nil {
		by = "contact:" + id
	}
	sum := sha256.Sum256([]byte(by + "\x00" + t.Slug() + "\x00" + t.NodeID()))
	total := 0
	for _, b := range cfg.Branches {
		total += b.Weight
	}
	if total <= 0 {
		return flow.Exit{}, &flow.Error{Code: "random.weights", Message: "at least one branch must have a weight above 0"}
	}
	at := int(binary.BigEndian.Uint64(sum[:8]) % uint64(total))
	for _, b := range cfg.Branches {
		if at -= b.Weight; at < 0 {
			return flow.Out(b.ID), nil
		}
	}
	panic("unreachable")
}
