// Package provider is the contract between the messaging service and the
// networks that carry its messages, as database/sql/driver is to
// database/sql. It imports nothing but the standard library and stores
// nothing.
//
// A [Provider] speaks for one kind of reference. Package messaging opens a
// [Session] per reference (one configured account or number), hands it what is
// to be sent, and takes what the network reports through an [Inbox]. Further
// abilities are further interfaces, found by type assertion: [Caller] for
// networks that post callbacks, [Validator], [Splitter], [Identifier],
// [LateIdentifier], [TemplateReviewer], [Eraser], [Defaulter], [Completer],
// [Inspector], and of sessions
// [Checker], [Subscriber], [Reader], [AboutReader], [Typist], [MediaFetcher],
// [TemplateManager], [GroupManager], [NumberChecker], [RateLimiter],
// [Namer].
//
// Package sandbox is the shortest complete implementation; package
// providertest holds the suite that every implementation passes.
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

// ReferenceID is the integer of one configured reference.
type ReferenceID int64

// Reference is what a provider knows of a reference.
type Reference struct {
	ID       ReferenceID
	Name     string
	Settings Settings // opened: secrets are in clear

	// CallbackURL is where the network was told to post this reference's events by
	// [Subscriber]; "": where its own settings say.
	CallbackURL string

	// Leased reports whether this process still leases the reference of a [Connector].
	// Once it is false it stays false, also when the process slept meanwhile:
	// the session then ends its connection before it does anything else, and
	// changes nothing that the next holder reads. nil: it always is.
	Leased func() bool
}

// Settings holds a reference's values by the names that [Provider.Settings] lists.
type Settings map[string]string

// LogValue names the settings and shows no value: which of them are secret is
// the provider's to know.
func (s Settings) LogValue() slog.Value {
	return slog.AnyValue(slices.Sorted(maps.Keys(s)))
}

// Setting describes one value that a reference of this kind is configured with.
type Setting struct {
	Name     string // camelCase, as in JSON
	Doc      string // one sentence
	Required bool
	Secret   bool // sealed at rest, never shown again in full
	Digits   bool // an id of digits only
	Boolean  bool // "true" or "false"
	// Schemes makes it an absolute URL with one of these schemes. nil: it is
	// no URL.
	Schemes []string
}

// Provider is one kind of reference, such as WhatsApp Cloud API.
type Provider interface {
	Kind() Kind
	Capabilities() Capabilities
	Settings() []Setting
	// Address turns what a user wrote as a chat id into the form this kind
	// uses, or fails with a [*BadRecipient]. It also takes the id that
	// [Address.RemoteJID] shows of a person, and of a group that id with @g.us.
	Address(chatID string) (Address, error)
	// Open prepares a reference for sending and, where the network needs a
	// connection, begins to receive into inbox until the session is closed. It
	// does not wait for the network.
	Open(ctx context.Context, ref Reference, inbox Inbox) (Session, error)
}

// Session is an open reference. Its methods may be called concurrently.
type Session interface {
	// Send hands one message to the network and returns once it was taken.
	// Its errors are those of this package; one that is none of them counts
	// as [Ambiguous].
	Send(ctx context.Context, out Outbound) (Receipt, error)
	Close(ctx context.Context) error
}

// Inbox takes what a provider receives. When Receive returns nil the events
// are durable and the provider may acknowledge them to its network; when it
// returns an error none of them is acknowledged.
type Inbox interface {
	Receive(ctx context.Context, ref ReferenceID, events []Event) error
}

// Checker is a Session that can ask the network whether its credentials are
// good for the ids of the reference.
type Checker interface {
	// Check proves the credentials and subscribes to the reference's events.
	Check(ctx context.Context) (Account, error)
}

// Subscriber is a Session that can tell the network where to post what happens
// on its reference.
type Subscriber interface {
	// Subscribe asks for the reference's events, to be posted to callbackURL; "" is
	// the address in the network's own settings. When it fails, what was asked
	// for before stays.
	Subscribe(ctx context.Context, callbackURL string) error
}

// Account is who a reference speaks for, as the network says.
type Account struct {
	ID              string
	Name            string
	VerifiedBizName string
	Health          []Health // of the reference, the account above it and the credentials, as far as told
}

// Reader is a Session that can tell the network that a message was read.
type Reader interface {
	MarkRead(ctx context.Context, chat Address, messageID string) error
}

// Identifier is a Provider whose message ids are chosen by the sender. A send
// that may have left is repeated with the same id.
type Identifier interface {
	NewMessageID() string
}

// LateIdentifier is an [Identifier] some of whose references get the ids of
// their messages from the network, with the answer to a send. For these
// [Outbound.ID] is ours, and a send that may have left is not repeated.
type LateIdentifier interface {
	Identifier
	// LateIDs reports whether a reference with these settings is such a one.
	LateIDs(settings Settings) bool
}

// Capabilities says what a kind of reference can do.
type Capabilities struct {
	Send      []string         // content types of [Content]
	Media     map[string]int64 // bytes at most by content type
	Window    time.Duration    // free-form messages after the contact's last one; 0: always
	Templates bool
	Groups    bool
	Typing    bool
	Receipts  bool
	Names     bool // sessions are a [Namer]: messages come without names
	// Tags are those of [Outbound.Tag], each with how long after the contact's
	// last message it lets messages go out. nil: there are none.
	Tags map[string]time.Duration
}

// Outbound is a message to send.
type Outbound struct {
	ID      string // ours; passed on so that a status can name it. With an [Identifier] it is the message's id
	To      Address
	Content Content
	ReplyTo string // provider's id of the quoted message, or ""
	About   *About // the message that Content is about, or else that ReplyTo names; nil: it names none, or none that is known
	Tag     string // why it may go out although the window is closed, in the network's word; "": none
}

// Receipt is the network's answer to a send.
type Receipt struct {
	MessageID string   // the network's id of the message
	To        *Address // what else the network said of the contact, or nil
}
