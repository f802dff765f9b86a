package payload

import (
	"encoding/json"
	"time"

	"github.com/trunklinehq/trunkline/provider"
)

// EventType is the kind of an [Event].
type EventType string

// The types of events.
const (
	EventMessage EventType = "message" // a message came in, or one of the account's was taken or failed
	EventStatus  EventType = "status"  // a message's status rose
	EventCalls   EventType = "calls"   // a call took a step
	EventSession EventType = "session" // a session changed its state
)

// Event is something that integrators want to hear of.
type Event struct {
	ID        string // UUIDv7
	Type      EventType
	Account   string
	Reference provider.ReferenceID
	Key       string // events of one key are in order
	ChatID    string // "" for a session
	MessageID string // "" for a call and a session
	Actor     Actor  // who wrote the message; "" for a call and a session
	At        time.Time
	Payload   json.RawMessage // [MessagePayload], [StatusPayload], [CallPayload] or [SessionPayload]

	// Traceparent is the W3C traceparent of what the event follows from; "":
	// nothing is traced. Events of one call may be of several traces.
	Traceparent string
}
