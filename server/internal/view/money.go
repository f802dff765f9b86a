package view

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/trunklinehq/trunkline/aiflow/llm/usage"
)

// MicroUSD is an amount that is kept in nano-USD and shown in micro-USD.
type MicroUSD usage.Nano

// MarshalJSON writes micro-USD, exactly.
func (m MicroUSD) MarshalJSON() ([]byte, error) { return usage.Nano(m).MarshalJSON() }

// UnmarshalJSON reads micro-USD.
func (m *MicroUSD) UnmarshalJSON(b []byte) error { return (*usage.Nano)(m).UnmarshalJSON(b) }

// Schema is a number.
func (MicroUSD) Schema(huma.Registry) *huma.Schema {
	least, limit := 0.0, 1e15
	return &huma.Schema{
		Type: huma.TypeNumber, Minimum: &least, Maximum: &limit, Examples: []any{1234.5},
		Description: "Micro-USD, with at most three decimals. One million are one USD.",
	}
}

// Rate is a price of a million tokens.
type Rate usage.Rate

// MarshalJSON writes USD, exactly.
func (r Rate) MarshalJSON() ([]byte, error) { return usage.Rate(r).MarshalJSON() }

// UnmarshalJSON reads USD.
func (r *Rate) UnmarshalJSON(b []byte) error { return (*usage.Rate)(r).UnmarshalJSON(b) }

// Schema is a number.
func (Rate) Schema(huma.Registry) *huma.Schema {
	least, limit := 0.0, 1e5
	return &huma.Schema{
		Type: huma.TypeNumber, Minimum: &least, Maximum: &limit, Examples: []any{1.25},
		Description: "USD per million tokens, with at most nine decimals.",
	}
}
