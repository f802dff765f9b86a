package provider

import "encoding/json"

// Interactive is a message with buttons or a menu in the network's own format,
// for features that [Buttons] and [List] do not have.
type Interactive struct {
	Interactive json.RawMessage `json:"interactive"`
}

// Type is the name of the content type.
func (Interactive) Type() string { return "interactive" }
