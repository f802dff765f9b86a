package provider

import "time"

// Call is a step of a call. One call has several, which share its CallID.
type Call struct {
	Raw
	CallID   string
	Chat     Address
	From     Contact // who called; with Mine, the account
	Mine     bool    // the account called
	Status   CallStatus
	Video    bool
	At       time.Time
	Duration time.Duration // of one that ended
}

// CallStatus is how far a call has come.
type CallStatus string

// The steps of a call. Rejected, missed and ended are its last.
const (
	CallRinging  CallStatus = "ringing"
	CallAccepted CallStatus = "accepted"
	CallRejected CallStatus = "rejected"
	CallMissed   CallStatus = "missed" // not answered
	CallEnded    CallStatus = "ended"  // after it was answered
)

// ContactChange is what became of a person outside of messages. The person did not write
// it: no bot answers it and no window opens.
type ContactChange struct {
	Raw
	What     ContactChangeKind
	Chat     Address // the person as known until now
	At       time.Time
	To       Address // with [ContactMoved]: the names from now on
	Name     string  // with [ContactSaved] and [ContactForgotten]: what the account's phone book calls the person
	Category string  // with [ContactOptedOut] and [ContactOptedIn]: of what, "marketing_messages"
	Text     string  // the network's own sentence about it, or ""
}

// ContactChangeKind is what became of a person.
type ContactChangeKind string

// What can become of a person.
const (
	ContactMoved     ContactChangeKind = "moved"     // has another number or user id: the chat continues under it
	ContactIdentity  ContactChangeKind = "identity"  // may be another person on the same number, or has a new device
	ContactSaved     ContactChangeKind = "saved"     // into the phone book of the account's phone
	ContactForgotten ContactChangeKind = "forgotten" // taken out of it
	ContactOptedOut  ContactChangeKind = "opted_out" // wants no more of Category
	ContactOptedIn   ContactChangeKind = "opted_in"
	ContactLinked    ContactChangeKind = "linked" // with an account of the account's own service
	ContactUnlinked  ContactChangeKind = "unlinked"
)

// Handover is that a conversation changed hands between programs, or between
// a program and the people at an inbox, or that one of them asked for it.
type Handover struct {
	Raw
	What     string  // the network's word: "pass_thread_control"
	Chat     Address // ChatID "": all of the reference
	At       time.Time
	Owner    HandoverOwner
	From, To string // ids of the programs that had it and have it, or ""
	Metadata string // what the one wrote for the other, or ""
}

// HandoverOwner says who answers from now on.
type HandoverOwner int

// Who may answer.
const (
	HandoverSame   HandoverOwner = iota // nothing has changed
	HandoverOurs                        // we
	HandoverTheirs                      // another app
)

// GroupChange is what became of a group.
type GroupChange struct {
	Raw
	What        string // the network's word: "group_create", "group_participants_add"
	Chat        Address
	At          time.Time
	Subject     string // the new one, or ""
	Description string // the new one, or ""
	Invite      string // the link to join by, or ""
	Joined      []Contact
	Left        []Contact
	RequestID   string   // of the request of ours that it answers, or ""
	Error       *Failure // why that request failed, or nil
}

// TemplateChange is what became of a message template. Members that the report
// does not speak of are "".
type TemplateChange struct {
	Raw
	TemplateID string
	Name       string
	Language   string
	At         time.Time
	Status     string // the network's word: "APPROVED", "PAUSED"
	Reason     string // of a status, "" when there is none
	Advice     string // what to do about it
	Quality    string // "GREEN", "YELLOW", "RED", "UNKNOWN"
	Category   string // "MARKETING", "UTILITY", "AUTHENTICATION"
	Text       string // the new text of its body; what else changed is to be fetched
}

// Health is news of a reference or of the account above it: of its quality, limits
// and name, and whether it may continue. A reference's health is the latest of each
// Raw.Kind.
type Health struct {
	Raw
	Level  HealthLevel
	Code   HealthCode // of a warning or a stop
	Phone  string     // the reference's number, digits only; "": of the whole account
	At     time.Time
	State  string   // the network's word: "ACCOUNT_RESTRICTION", "APPROVED", "FLAGGED"
	Detail string   // what it adds to that word
	Limit  string   // how many people may be written to in a day: "TIER_10K", "2000"; "": not said
	Name   string   // the name or user name that it is about
	Error  *Failure // or nil
}

// HealthCode is what is wrong, in the words that users read.
type HealthCode string

// What can be wrong with a reference.
const (
	HealthUnknown     HealthCode = ""
	HealthBanned      HealthCode = "banned"
	HealthLimited     HealthCode = "reachout_limited"    // may not write to everybody
	HealthLoggedOut   HealthCode = "logged_out_on_phone" // the owner unlinked the device
	HealthCredentials HealthCode = "credentials"
)

// HealthLevel is what news means for the work of a reference.
type HealthLevel int

// The levels in their order.
const (
	HealthNews    HealthLevel = iota // nothing to do
	HealthGood                       // what was wrong is over
	HealthWarning                    // works with restrictions, or will stop unless the owner acts
	HealthStopped                    // the network takes nothing from this reference any more
)

// HistoryProgress says how far the import of older messages has come; the
// messages themselves are events of their own, before it.
type HistoryProgress struct {
	Raw
	Phase   int // of the network's counting: 0 the last day, 1 the last 90 days, 2 up to 180 days
	Chunk   int
	Percent int      // of all of it
	Error   *Failure // why there is none: the account's owner declined
}
