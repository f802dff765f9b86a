package provider

import (
	"encoding/json"
	"time"
)

// Event is what a provider reports: [*Message], [*StatusChange] or [*Raw].
type Event interface{ event() }

// Message is a message that arrived, or that the account sent elsewhere.
type Message struct {
	ID          string
	Chat        Address
	From        Contact // the contact; in a group, the participant
	Mine        bool    // sent by the account itself, on a phone or in a page inbox
	At          time.Time
	Content     Content
	ReplyTo     string // id of the quoted message, or ""
	Forwarded   bool
	Referral    json.RawMessage // the advertisement or post it came from, as the network gives it, or nil
	WindowUntil time.Time       // when set, overrides At + the kind's window
}

// StatusChange is a message's progress as the network reports it.
type StatusChange struct {
	MessageID   string // the network's id
	OwnID       string // the [Outbound.ID] that the network carried back, or ""
	Status      Status
	At          time.Time
	Participant string   // in groups, who; else ""
	Error       *Failure // with [StatusFail]
}

// Raw is something the network reported that this version does not interpret.
// It is kept, and counted by its kind.
type Raw struct {
	ID   string // identifies it to recognise a repeat
	Kind string // "image", "template_status": what it is
	Body json.RawMessage
}

func (*Message) event()      {}
func (*StatusChange) event() {}
func (*Raw) event()          {}

// Failure is why a message failed, in the network's own words.
type Failure struct {
	Code    string
	Message string
}

// Status is how far a message has come. A message's status is the highest
// that was ever reported: it never falls.
type Status int

// The statuses in their order.
const (
	StatusPending   Status = iota // not yet taken by the network
	StatusSending                 // taken by the network
	StatusFail                    // refused or given up
	StatusDelivered               // on the contact's device
	StatusRead
	StatusPlayed
)

var statusNames = [...]string{"PENDING", "SENDING", "FAIL", "DELIVERED", "READ", "PLAYED"}

func (s Status) String() string {
	if s < 0 || int(s) >= len(statusNames) {
		return "PENDING"
	}
	return statusNames[s]
}
