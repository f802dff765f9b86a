package provider

import "encoding/json"

// Interactive is a message with something to press, in the network's own form:
// for what [Buttons] and [List] do not say.
type Interactive struct {
	Interactive json.RawMessage `json:"interactive"`
}

// Type is the name of the content type.
func (Interactive) Type() string { return "interactive" }
