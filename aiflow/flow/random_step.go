package flow

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// Step draws a branch. The draw follows from the run, or from the contact,
// and the node: nothing has to be remembered, and a turn that is computed
// again draws the same.
func (c *randomConfig) Step(t *Turn) (Exit, error) {
	by := "run:" + t.world.Run.ID
	if id := fmt.Sprint(t.world.Chat["reference"], ":", t.world.Chat["id"]); c.Sticky == "contact" && t.world.Chat != nil {
		by = "contact:" + id
	}
	sum := sha256.Sum256([]byte(by + "\x00" + t.graph().slug + "\x00" + t.node.id))
	total := 0
	for _, b := range c.Branches {
		total += b.Weight
	}
	if total <= 0 {
		return Exit{}, &Error{Code: "random.weights", Message: "the branches have no weight"}
	}
	at := int(binary.BigEndian.Uint64(sum[:8]) % uint64(total))
	for _, b := range c.Branches {
		if at -= b.Weight; at < 0 {
			return Out(b.ID), nil
		}
	}
	panic("unreachable")
}
