package node

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/trunklinehq/trunkline/aiflow/flow"
)

// Step draws a branch. The draw follows from the run, or from the contact,
// and the node: nothing has to be remembered, and a turn that is computed
// again draws the same.
func (c *randomConfig) Step(t *flow.Turn) (flow.Exit, error) {
	by := "run:" + t.World.Run.ID
	if id := fmt.Sprint(t.World.Chat["reference"], ":", t.World.Chat["id"]); c.Sticky == "contact" && t.World.Chat != nil {
		by = "contact:" + id
	}
	sum := sha256.Sum256([]byte(by + "\x00" + t.Graph().Slug + "\x00" + t.Node.Id))
	total := 0
	for _, b := range c.Branches {
		total += b.Weight
	}
	if total <= 0 {
		return flow.Exit{}, &flow.Error{Code: "random.weights", Message: "the branches have no weight"}
	}
	at := int(binary.BigEndian.Uint64(sum[:8]) % uint64(total))
	for _, b := range c.Branches {
		if at -= b.Weight; at < 0 {
			return flow.Out(b.ID), nil
		}
	}
	panic("unreachable")
}
