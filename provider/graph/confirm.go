package graph

import (
	"encoding/json"
	"strconv"

	"github.com/trunklinehq/trunkline/provider"
)

// Confirmation is an answer {"success": true}, or "true".
type Confirmation struct {
	Success json.RawMessage `json:"success"`
}

// Check returns a [*provider.Rejected] unless the answer confirms the call.
func (c *Confirmation) Check(doing string) error {
	text, err := strconv.Unquote(string(c.Success))
	if err != nil {
		text = string(c.Success)
	}
	if text == "true" {
		return nil
	}
	return &provider.Rejected{Message: "the network did not confirm " + doing}
}
