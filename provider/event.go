package provider

import (
	"encoding/json"
	"time"
)

// Event is what a provider reports: a [*Message], a [*StatusChange], a
// [*Connection], or one of the reports, which hold what the network said beside what it means: [*Call],
// [*ContactChange], [*GroupChange], [*Handover], [*TemplateChange],
// [*Health], [*HistoryProgress] and [*Raw].
type Event interface{ event() }

// Message is a message that arrived, or that the account sent elsewhere. Where
// one message of a network holds several files it makes a Message of each,
// with ids of their own.
type Message struct {
	ID                  string
	Chat                Address
	From                Contact // who wrote: the contact; in a group, the participant; with Mine, the account
	Mine                bool    // sent by the account itself, on a phone or in a page inbox
	At                  time.Time
	Content             Content
	Edits               string // id of the message that this one replaces, or ""
	ReplyTo             string // id of the quoted message, or ""
	Forwarded           bool
	FrequentlyForwarded bool      // through many hands; Forwarded is set as well
	Referral            *Referral // what led the contact here, or nil
	Error               *Failure  // why a part of it is missing, such as its file, or nil
	WindowUntil         time.Time // when set, overrides At + the kind's window

	OwnID   string // with Mine: the [Outbound.ID] that the network carried back, if that was ours, or ""
	App     string // with Mine: the program that sent it; "": a person, or not said
	Standby bool   // another app answers in this chat for now

	// Historical says that it was written before the reference was connected: it is
	// to be kept, and nothing follows from it. A message that is shown as a
	// [Placeholder] may come again with its file.
	Historical bool
	Status     Status // of a historical one, as far as said; else [StatusPending]
}

// Referral is what led a contact into the chat: an advertisement, a post, a
// link, a product.
type Referral struct {
	Source   string          // the network's word: "ad", "post", "product", "SHORTLINK"
	SourceID string          // of the advertisement, post or product
	Ref      string          // what the link carried for us
	ClickID  string          // of the click on an advertisement
	URL      string          //
	Headline string          //
	Text     string          //
	Body     json.RawMessage // all of it, as the network gives it
}

// StatusChange is a message's progress as the network reports it. It names the
// message by MessageID or OwnID; without either it is about every message of
// the account in the chat To that is not newer than UpTo.
type StatusChange struct {
	MessageID   string // the network's id
	OwnID       string // the [Outbound.ID] that the network carried back, or ""
	Status      Status
	At          time.Time
	UpTo        time.Time // a watermark; zero: none
	To          Address   // the chat as the network calls it here, which may be another way than it was sent to; ChatID "": not said
	Participant string    // in groups, who; else ""
	WindowUntil time.Time // free-form messages are allowed until then, if no other reason allows longer; zero: not said
	Error       *Failure  // with [StatusFail]
}

// Raw is what the network reported, as it did. An event of this type alone is
// something that this version does not interpret: it is kept, and counted by
// its kind.
type Raw struct {
	ID   string // identifies it among those of its kind, to recognise a repeat
	Kind string // "image", "template_status": what it is
	Body json.RawMessage
}

func (*Message) event()      {}
func (*StatusChange) event() {}
func (*Raw) event()          {}

func (r *Raw) report() *Raw { return r }

// RawOf returns what the network said of a report; nil for a [*Message] and a
// [*StatusChange].
func RawOf(e Event) *Raw {
	if r, ok := e.(interface{ report() *Raw }); ok {
		return r.report()
	}
	return nil
}

// Failure is why a message failed, in the network's own words.
type Failure struct {
	Code    string
	Message string
	Advice  string // what the user can do about it, or ""
}

// Text is the message, with the advice in brackets.
func (f Failure) Text() string {
	switch {
	case f.Advice == "":
		return f.Message
	case f.Message == "":
		return f.Advice
	}
	return f.Message + " [" + f.Advice + "]"
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
