package provider

import "time"

// Call is a step of a call. The steps of a call share its CallID.
type Call struct {
	Raw
	CallID   string
	Chat     Address
	From     Contact // the caller; with Mine, the account
	Mine     bool    // the account is the caller
	Status   CallStatus
	Video    bool
	At       time.Time
	Duration time.Duration // of a call that has ended

	// RejectedBy says with [CallRejected] that this program rejected the call,
	// and why.
	RejectedBy CallRejection
	Reply      string // with RejectedBy: a text to send to the caller, or ""
}

// CallRejection is why this program rejected a call.
type CallRejection string

// The values of [CallRejection].
const (
	RejectedBySetting CallRejection = "setting" // a setting of the reference
	RejectedByAPI     CallRejection = "api"     // a call of [CallRejecter]
)

// CallStatus is how far a call has come.
type CallStatus string

// The steps of a call. Rejected, missed and ended are final.
const (
	CallRinging  CallStatus = "ringing"
	CallAccepted CallStatus = "accepted"
	CallRejected CallStatus = "rejected"
	CallMissed   CallStatus = "missed" // not answered
	CallEnded    CallStatus = "ended"  // after it was accepted
)

// ContactChange is a change of a contact outside of messages. Bots do not
// answer it, and it opens no window.
type ContactChange struct {
	Raw
	What     ContactChangeKind
	Chat     Address // the contact's address until now
	At       time.Time
	To       Address // with [ContactMoved]: the address from now on
	Name     string  // with [ContactSaved] and [ContactForgotten]: the name in the contacts of the account's phone
	Category string  // with [ContactOptedOut] and [ContactOptedIn]: such as "marketing_messages"
	Text     string  // the network's description, or ""
}

// ContactChangeKind is how a contact has changed.
type ContactChangeKind string

// The values of [ContactChangeKind].
const (
	ContactMoved     ContactChangeKind = "moved"     // has another number or user id: the chat continues with it
	ContactIdentity  ContactChangeKind = "identity"  // may be another person with the same number, or has a new device
	ContactSaved     ContactChangeKind = "saved"     // added to the contacts of the account's phone, or renamed
	ContactForgotten ContactChangeKind = "forgotten" // removed from them
	ContactOptedOut  ContactChangeKind = "opted_out" // does not want messages of Category any more
	ContactOptedIn   ContactChangeKind = "opted_in"
	ContactLinked    ContactChangeKind = "linked" // with an account of the business's own service
	ContactUnlinked  ContactChangeKind = "unlinked"
)

// Handover says that a conversation was handed to another program or to people
// at an inbox, or that one of them asked for it.
type Handover struct {
	Raw
	What     string  // the network's type: "pass_thread_control"
	Chat     Address // ChatID "": all chats of the reference
	At       time.Time
	Owner    HandoverOwner
	From, To string // ids of the programs that had and have it, or ""
	Metadata string // what one program wrote for the other, or ""
}

// HandoverOwner is the program that answers from now on.
type HandoverOwner int

// The values of [HandoverOwner].
const (
	HandoverSame   HandoverOwner = iota // not changed
	HandoverOurs                        // this program
	HandoverTheirs                      // another app
)

// GroupChange is a change of a group.
type GroupChange struct {
	Raw
	What        string // the network's type: "group_create", "group_participants_add"
	Chat        Address
	At          time.Time
	Subject     string // the new one, or ""
	Description string // the new one, or ""
	Invite      string // the link to join, or ""
	Joined      []Contact
	Left        []Contact
	RequestID   string   // of our request that this answers, or ""
	Error       *Failure // why that request failed, or nil
}

// TemplateChange is a change of a message template. Fields that have not
// changed are "".
type TemplateChange struct {
	Raw
	TemplateID string
	Name       string
	Language   string
	At         time.Time
	Status     string // the network's status: "APPROVED", "PAUSED"
	Reason     string // of the status, or ""
	Advice     string // what to do about it
	Quality    string // "GREEN", "YELLOW", "RED", "UNKNOWN"
	Category   string // "MARKETING", "UTILITY", "AUTHENTICATION"
	Text       string // the new text of its body; other changes have to be fetched
}

// Health is a change of the quality, limits, name or state of a reference or of
// the account above it. The health of a reference is the latest of each
// Raw.Kind.
type Health struct {
	Raw
	Level  HealthLevel
	Code   HealthCode // of a warning or a stop
	Phone  string     // the reference's number, digits only; "": the whole account
	At     time.Time
	State  string   // the network's state: "ACCOUNT_RESTRICTION", "APPROVED", "FLAGGED"
	Detail string   // details of the state
	Limit  string   // how many people may be written to in a day: "TIER_10K", "2000"; "": not known
	Name   string   // the name or user name that it concerns
	Error  *Failure // or nil
}

// HealthCode is what is wrong. Users see it.
type HealthCode string

// The values of [HealthCode].
const (
	HealthUnknown     HealthCode = ""
	HealthBanned      HealthCode = "banned"
	HealthLimited     HealthCode = "reachout_limited"    // may not write to all contacts
	HealthLoggedOut   HealthCode = "logged_out_on_phone" // the owner unlinked the device
	HealthCredentials HealthCode = "credentials"
)

// HealthLevel is how severe a change of health is.
type HealthLevel int

// The levels in ascending order.
const (
	HealthNews    HealthLevel = iota // no action is needed
	HealthGood                       // a problem is over
	HealthWarning                    // the reference is restricted, or will stop unless the owner acts
	HealthStopped                    // the network accepts nothing from this reference any more
)

// HistoryProgress says how far the import of older messages has come. The
// messages are separate events before it.
type HistoryProgress struct {
	Raw
	Phase   int // as the network counts: 0 the last day, 1 the last 90 days, 2 up to 180 days
	Chunk   int
	Percent int      // of all of it
	Error   *Failure // why there is no history: the account's owner declined
}
