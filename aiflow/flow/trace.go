package flow

import "time"

// TraceRow is one step of a turn, for people who look at what a run did.
type TraceRow struct {
	Seq    int            `json:"seq"` // counts through the run, from 1
	Node   string         `json:"node"`
	Type   string         `json:"type"`
	Output string         `json:"output,omitempty"` // none while the node waits, and where a graph ends
	Path   []string       `json:"path,omitempty"`   // the frames above the node: each[2], call:vat
	In     map[string]any `json:"in,omitempty"`     // what the node was given; secret variables are masked
	Out    map[string]any `json:"out,omitempty"`    // what it made
	At     time.Time      `json:"at"`
	Error  *Error         `json:"error,omitempty"`
	// Retry counts the retries of the run, on the first step after one.
	Retry int `json:"retry,omitempty"`
	// Warning is a problem that the node passed over.
	Warning string `json:"warning,omitempty"`
}
