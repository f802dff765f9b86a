// Package provider is the contract between the messaging service and the
// networks that carry its messages, as database/sql/driver is to
// database/sql. It imports nothing but the standard library and stores
// nothing.
//
// A [Provider] implements one kind of reference. Package messaging opens a
// [Session] per reference (one configured account or number), hands it what to
// send, and receives what the network reports through an [Inbox]. Optional
// abilities are further interfaces, which are found by type assertion. A
// provider may be a [Caller], if its network posts callbacks, [Connector],
// [Validator], [Splitter], [Identifier], [LateIdentifier], [TemplateReviewer],
// [Eraser], [Defaulter], [Completer] or [Inspector], and a session a [Checker],
// [Linker], [PasskeyLinker], [Subscriber], [Reader], [AboutReader], [Typist], [MediaFetcher],
// [MediaUploader], [TemplateManager], [GroupManager], [NumberChecker],
// [CallRejecter], [RateLimiter] or [Namer].
//
// Package sandbox is the shortest complete implementation. Package providertest
// has the test suite that every implementation passes.
package provider

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"time"
)

// Kind names an implementation: "provider-cloud", "provider-sandbox".
type Kind string

// ReferenceID is the id of a configured reference.
type ReferenceID int64

// Reference is a configured account, number or page.
type Reference struct {
	ID       ReferenceID
	Name     string
	Settings Settings // decrypted: secrets are in clear

	// CallbackURL is where a [Subscriber] told the network to post the events
	// of this reference; "": to the address in the network's own settings.
	CallbackURL string

	// Leased reports whether this process still has the lease of the reference
	// of a [Connector]. It never becomes true again after it was false. The
	// session then closes its connection at once, and changes nothing that the
	// next process reads. nil: the process always has the lease.
	Leased func() bool
}

// Settings are a reference's values by the names that [Provider.Settings]
// lists.
type Settings map[string]string

// LogValue returns the names of the settings without their values, some of
// which are secret.
func (s Settings) LogValue() slog.Value {
	return slog.AnyValue(slices.Sorted(maps.Keys(s)))
}

// Setting describes one setting of a kind of reference.
type Setting struct {
	// Name is camelCase, as in JSON. With a dot, as in "calls.reject", it is a
	// member of an object of settings.
	Name     string
	Doc      string // one sentence
	Required bool
	Secret   bool // encrypted in the database, never shown in full
	Digits   bool // an id of digits only
	Boolean  bool // "true" or "false"
	// Schemes are the allowed schemes of a value that is an absolute URL. nil:
	// it is not a URL.
	Schemes []string
}

// Provider is one kind of reference, such as the WhatsApp Cloud API.
type Provider interface {
	Kind() Kind
	Capabilities() Capabilities
	Settings() []Setting
	// Address parses a chat id that a user wrote into the form of this kind, or
	// fails with a [*BadRecipient]. It also parses the id in the
	// [Address.RemoteJID] of a person, and that of a group with @g.us appended.
	Address(chatID string) (Address, error)
	// Open prepares a reference for sending. If the network needs a connection,
	// it starts to receive into inbox until the session is closed. It does not
	// wait for the network.
	Open(ctx context.Context, ref Reference, inbox Inbox) (Session, error)
}

// Session is an open reference. Its methods may be called concurrently.
type Session interface {
	// Send hands one message to the network and returns when the network has
	// accepted it. It returns the errors of this package; any other error
	// counts as [Ambiguous].
	Send(ctx context.Context, out Outbound) (Receipt, error)
	Close(ctx context.Context) error
}

// Inbox stores what a provider receives. When Receive returns nil, the events
// are durable and the provider may acknowledge them to its network. When it
// returns an error, none of them may be acknowledged.
type Inbox interface {
	Receive(ctx context.Context, ref ReferenceID, events []Event) error
}

// Checker is a Session that can check with the network that its credentials are
// good for the ids of the reference.
type Checker interface {
	// Check checks the credentials and subscribes to the reference's events.
	Check(ctx context.Context) (Account, error)
}

// Subscriber is a Session that can tell the network where to post the events of
// its reference.
type Subscriber interface {
	// Subscribe subscribes to the reference's events at callbackURL; "" is the
	// address in the network's own settings. If it fails, the earlier
	// subscription stays.
	Subscribe(ctx context.Context, callbackURL string) error
}

// Account is the account of a reference, as the network describes it.
type Account struct {
	ID              string
	Name            string
	VerifiedBizName string
	Health          []Health // of the reference, the account above it and the credentials, as far as known
}

// Reader is a Session that can tell the network that a message was read.
type Reader interface {
	MarkRead(ctx context.Context, chat Address, messageID string) error
}

// Identifier is a Provider whose message ids are chosen by the sender. A send
// that may have succeeded is repeated with the same id.
type Identifier interface {
	NewMessageID() string
}

// LateIdentifier is an [Identifier] for which the network chooses the message
// ids of some references and returns them with the answer to a send. For these,
// [Outbound.ID] is ours, and a send that may have succeeded is not repeated.
type LateIdentifier interface {
	Identifier
	// LateIDs reports whether the network chooses the ids for a reference with
	// these settings.
	LateIDs(settings Settings) bool
}

// Capabilities lists what a kind of reference can do.
type Capabilities struct {
	Send      []string         // content types of [Content]
	Media     map[string]int64 // maximum bytes by content type
	Window    time.Duration    // how long after a contact's last message free-form messages are allowed; 0: always
	Templates bool
	Groups    bool
	Typing    bool
	Receipts  bool
	Calls     bool // sessions are a [CallRejecter]
	Names     bool // sessions are a [Namer]: messages do not contain names
	// Tags are the values of [Outbound.Tag], with how long after the contact's
	// last message each allows sends. nil: there are none.
	Tags map[string]time.Duration
}

// Outbound is a message to send.
type Outbound struct {
	ID      string // ours, so that a status can name the message; with an [Identifier] it is the message's id
	To      Address
	Content Content
	ReplyTo string // provider's id of the quoted message, or ""
	About   *About // the message that Content refers to, or else ReplyTo; nil: there is none, or it is not known
	Tag     string // why it may be sent although the window is closed, as the network calls it; "": none
}

// Receipt is the network's answer to a send.
type Receipt struct {
	MessageID string   // the network's id of the message
	To        *Address // the contact's address as the network reports it, or nil
}
