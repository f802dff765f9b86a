package provider

import (
	"encoding/json"
	"time"
)

// Event is what a provider reports: a [*Message], a [*StatusChange], a
// [*Connection], or a report that also contains the network's original:
// [*Call], [*ContactChange], [*GroupChange], [*Handover], [*TemplateChange],
// [*Health], [*HistoryProgress] and [*Raw].
type Event interface{ event() }

// Message is a message that was received, or that the account sent by another
// program. If one message of a network contains several files, each file is a
// Message with its own id.
type Message struct {
	ID                  string
	Chat                Address
	From                Contact // the sender: the contact; in a group, the participant; with Mine, the account
	Mine                bool    // sent by the account itself, on a phone or in a page inbox
	At                  time.Time
	Content             Content
	Edits               string // id of the message that this one edits, or ""
	ReplyTo             string // id of the quoted message, or ""
	Forwarded           bool
	FrequentlyForwarded bool      // forwarded many times; Forwarded is also set
	Referral            *Referral // what led the contact to the chat, or nil
	Error               *Failure  // why a part is missing, such as the file, or nil
	WindowUntil         time.Time // if set, overrides At + the kind's window

	OwnID   string // with Mine: the [Outbound.ID] that the network returned, or ""
	App     string // with Mine: the program that sent it; "": a person, or not known
	Standby bool   // another app answers in this chat at present

	// Historical says that the message is older than the connection of the
	// reference. It is stored and triggers nothing. A message that is shown as
	// a [Placeholder] may be delivered again with its file.
	Historical bool
	Status     Status // of a historical message, if known; else [StatusPending]
}

// Referral is what led a contact to the chat: an advertisement, a post, a link,
// a product.
type Referral struct {
	Source   string          // the network's type: "ad", "post", "product", "SHORTLINK"
	SourceID string          // of the advertisement, post or product
	Ref      string          // the parameter of the link
	ClickID  string          // of the click on an advertisement
	URL      string          //
	Headline string          //
	Text     string          //
	Body     json.RawMessage // the whole referral as the network sent it
}

// StatusChange is a change of a message's status. MessageID or OwnID identifies
// the message. If both are empty, it applies to all messages of the account in
// the chat To that are not newer than UpTo.
type StatusChange struct {
	MessageID   string // the network's id
	OwnID       string // the [Outbound.ID] that the network returned, or ""
	Status      Status
	At          time.Time
	UpTo        time.Time // a watermark; zero: none
	To          Address   // the chat as the network names it here, which may differ from the address of the send; ChatID "": not known
	Participant string    // in groups, the participant; else ""
	WindowUntil time.Time // free-form messages are allowed until then, or longer for another reason; zero: not known
	Error       *Failure  // with [StatusFail]
}

// Raw is a report of the network in its original form. An event of this type is
// one that this version does not support: it is stored, and counted by its
// kind.
type Raw struct {
	ID   string // unique within the kind, to recognize a repeat
	Kind string // such as "image" or "template_status"
	Body json.RawMessage
}

func (*Message) event()      {}
func (*StatusChange) event() {}
func (*Raw) event()          {}

func (r *Raw) report() *Raw { return r }

// RawOf returns the original of a report; nil for a [*Message] and a
// [*StatusChange].
func RawOf(e Event) *Raw {
	if r, ok := e.(interface{ report() *Raw }); ok {
		return r.report()
	}
	return nil
}

// Failure is why a message failed, as the network says.
type Failure struct {
	Code    string
	Message string
	Advice  string // what the user can do about it, or ""
}

// Text returns the message, with the advice in brackets.
func (f Failure) Text() string {
	switch {
	case f.Advice == "":
		return f.Message
	case f.Message == "":
		return f.Advice
	}
	return f.Message + " [" + f.Advice + "]"
}

// Status is how far a message has come. The status of a message is the highest
// that was reported.
type Status int

// The statuses in ascending order.
const (
	StatusPending   Status = iota // not accepted by the network yet
	StatusSending                 // accepted by the network
	StatusFail                    // refused, or given up
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
