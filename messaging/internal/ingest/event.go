package ingest

import (
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

// Event is one event of one reference.
type Event struct {
	Reference store.ReferenceInfo
	Event     provider.Event
	body      string        // of a message, as its row will have it
	Bad       *provider.Bad // instead of an event
	Part      provider.Part // of the callback with nothing but this, to read it again; no Body: not known
	echo      bool          // of what was sent from here

	Parent string // traceparent of its receipt
}

// Counts counts what was new by kind of reference and what it was.
type Counts map[CountKey]int

// CountKey is a kind of references, and what was new.
type CountKey struct {
	Kind provider.Kind
	What string
}
