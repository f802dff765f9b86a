package view

import (
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"

	"github.com/trunklinehq/trunkline/aiflow/flow"
)

// Document is a flow, or the draft of one. Package flow says what is wrong with
// it.
type Document json.RawMessage

// MarshalJSON writes the document as it is.
func (d Document) MarshalJSON() ([]byte, error) { return d, nil }

// UnmarshalJSON takes anything.
func (d *Document) UnmarshalJSON(b []byte) error {
	*d = append((*d)[:0], b...)
	return nil
}

// Schema says that it is an object, which huma does not check.
func (Document) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{
		Description: "A document of the flow language. A draft may be any object.",
		Extensions:  map[string]any{"type": huma.TypeObject, "additionalProperties": true},
		Examples:    []any{map[string]any{"format": flow.Format, "kind": flow.KindFlow, "slug": "greeter", "name": "Greeter", "start": "start", "nodes": map[string]any{}}},
	}
}
