// Package providertest is the test suite that every kind of reference passes.
// An implementation calls [Run] from a test of its own, with a real peer or a
// fake one that implements the network's protocol:
//
//	func TestConformance(t *testing.T) {
//		providertest.Run(t, providertest.Harness{New: newSetup, ChatIDs: []string{"ana@sandbox"}, Junk: []string{""}})
//	}
//
// The suite finds optional abilities by type assertion, as package messaging
// does, and tests each. It is for tests only.
package providertest

import (
	"context"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider"
)

// Harness describes a kind of reference to the suite.
type Harness struct {
	// New returns a new reference and its peer. Each subtest calls it.
	New func(t *testing.T) Setup
	// ChatIDs are chat ids as users write them. The first is that of a contact
	// who can be written to.
	ChatIDs []string
	// Junk are strings that are not chat ids of this kind.
	Junk []string
	// Contents are samples of content types, in addition to the suite's own or
	// instead of them.
	Contents []provider.Content
}

// Setup is a provider with a configured reference and the peer behind it. Optional fields may
// be nil; what needs them is then not tested.
type Setup struct {
	Provider  provider.Provider
	Reference provider.Reference
	// Shown returns the texts that the contact's phone shows, in order.
	Shown func() []string
	// Fail makes the next send fail with the fault. It returns false if the
	// peer does not have the fault. It is optional.
	Fail func(f Fault) bool
	// Say makes the contact write a text. It is for kinds that connect and
	// receive by themselves, and optional.
	Say func(t *testing.T, text string)
	// Vote makes the contact vote in the poll with an id, which was sent to it. It
	// is for kinds that send polls, and optional.
	Vote func(t *testing.T, poll string, options ...string)
	// Callback returns the signed callback by which the network reports a text
	// of the contact. It is required for a [provider.Caller].
	Callback func(t *testing.T, text string) (http.Header, []byte)
	// Callbacks returns a callback of each kind of report of the network, by
	// name. It is for a [provider.Caller], and optional.
	Callbacks func(t *testing.T) map[string][]byte
}

// Fault is a way in which the next send fails.
type Fault string

// The faults, with the error that the send must return.
const (
	RateLimited Fault = "rate limited" // *provider.RateLimited
	Window      Fault = "window"       // *provider.WindowClosed
	Expired     Fault = "credentials"  // *provider.AuthExpired
	Unreachable Fault = "recipient"    // *provider.BadRecipient
	Refused     Fault = "refused"      // *provider.Rejected
	Unavailable Fault = "unavailable"  // *provider.Temporary: certainly not sent
	Lost        Fault = "lost"         // *provider.Ambiguous: accepted, the answer is lost
	Hanging     Fault = "hanging"      // no answer until the context ends
)

// Run runs the suite.
func Run(t *testing.T, h Harness) {
	t.Helper()
	require.NotEmpty(t, h.ChatIDs)
	for name, law := range map[string]func(*testing.T, *fixture){
		"Description":      description,
		"Settings":         settings,
		"Addresses":        addresses,
		"Contents":         contents,
		"OtherContents":    otherContents,
		"Groups":           groups,
		"Cancelled":        cancelled,
		"Closed":           closed,
		"ConcurrentSends":  concurrentSends,
		"Faults":           faults,
		"Hanging":          hanging,
		"OwnIDs":           ownIDs,
		"GroupManager":     groupManager,
		"NumberChecker":    numberChecker,
		"Checker":          checker,
		"Receives":         receives,
		"Votes":            votes,
		"CallerKeys":       callerKeys,
		"CallerSignatures": callerSignatures,
		"CallerEvents":     callerEvents,
		"CallerReports":    callerReports,
		"CallerJunk":       callerJunk,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			law(t, setup(t, h))
		})
	}
}

// fixture is a new reference with what the tests need.
type fixture struct {
	Setup
	h     Harness
	inbox *inbox
	to    provider.Address
}

func setup(t *testing.T, h Harness) *fixture {
	t.Helper()
	f := &fixture{Setup: h.New(t), h: h, inbox: &inbox{arrived: make(chan provider.Event, 64)}}
	require.NotNil(t, f.Shown, "the harness must say what the contact sees")
	var err error
	f.to, err = f.Provider.Address(h.ChatIDs[0])
	require.NoError(t, err)
	return f
}

// open opens the reference until the test ends.
func (f *fixture) open(t *testing.T) provider.Session {
	t.Helper()
	session, err := f.Provider.Open(t.Context(), f.Reference, f.inbox)
	require.NoError(t, err)
	t.Cleanup(func() { _ = session.Close(context.WithoutCancel(t.Context())) })
	return session
}

// text returns a message to the contact with an id that the provider accepts.
func (f *fixture) text(text string) provider.Outbound {
	return provider.Outbound{ID: f.id("own " + text), To: f.to, Content: provider.Text{Text: text}}
}

// id returns an id of the provider if it chooses the ids, else one of ours.
func (f *fixture) id(ours string) string {
	if own, ok := f.identifier(); ok {
		return own.NewMessageID()
	}
	return ours
}

// identifier returns the provider if it chooses the ids of the reference's messages.
func (f *fixture) identifier() (provider.Identifier, bool) {
	own, ok := f.Provider.(provider.Identifier)
	if late, may := own.(provider.LateIdentifier); may && late.LateIDs(f.Reference.Settings) {
		return nil, false
	}
	return own, ok
}

func (f *fixture) sends(contentType string) bool {
	return slices.Contains(f.Provider.Capabilities().Send, contentType)
}

// eventTimeout is how long an event may take.
const eventTimeout = time.Minute

// inbox records what a reference receives.
type inbox struct{ arrived chan provider.Event }

// Receive accepts all events.
func (i *inbox) Receive(ctx context.Context, _ provider.ReferenceID, events []provider.Event) error {
	for _, e := range events {
		select {
		case i.arrived <- e:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// message waits for a message.
func (i *inbox) message(t *testing.T) *provider.Message {
	t.Helper()
	late := time.After(eventTimeout)
	for {
		select {
		case e := <-i.arrived:
			if m, ok := e.(*provider.Message); ok {
				return m
			}
		case <-late:
			require.FailNow(t, "no message arrived")
		}
	}
}
