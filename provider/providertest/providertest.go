// Package providertest is the suite that every kind of line passes. An
// implementation calls [Run] from a test of its own, with a real peer or a
// fake one that speaks the network's own protocol:
//
//	func TestConformance(t *testing.T) {
//		providertest.Run(t, providertest.Harness{New: newLine, ChatIDs: []string{"ana@sandbox"}, Junk: []string{""}})
//	}
//
// The suite finds optional abilities by type assertion, as package messaging
// does, and holds each to its laws. It is for tests only.
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

// Harness describes a kind of line to the suite.
type Harness struct {
	// New returns a line and its peer, both fresh: each subtest has its own.
	New func(t *testing.T) Line
	// ChatIDs are chat ids as users write them. The first is that of a contact
	// who can be written to.
	ChatIDs []string
	// Junk is what is no chat id of this kind.
	Junk []string
	// Contents are samples of content types that the suite has none of, or
	// other ones than its own.
	Contents []provider.Content
}

// Line is a configured line with the peer behind it. Optional members may be
// nil; what they are needed for is then not tested.
type Line struct {
	Provider  provider.Provider
	Reference provider.Reference
	// Shown returns the texts that the contact's phone shows, in their order.
	Shown func() []string
	// Fail makes the next send meet the fault; false when the peer has no such
	// fault. Optional.
	Fail func(f Fault) bool
	// Say lets the contact write a text. For kinds that connect and receive by
	// themselves; optional.
	Say func(t *testing.T, text string)
	// Callback returns the signed callback by which the network reports a text
	// of the contact. Needed for a [provider.Caller].
	Callback func(t *testing.T, text string) (http.Header, []byte)
	// Callbacks returns one callback of each thing that the network can report,
	// by what it is. For a [provider.Caller]; optional.
	Callbacks func(t *testing.T) map[string][]byte
}

// Fault is a way in which the next send goes wrong.
type Fault string

// The faults, each with the error that the send must return.
const (
	RateLimited Fault = "rate limited" // *provider.RateLimited
	Window      Fault = "window"       // *provider.WindowClosed
	Expired     Fault = "credentials"  // *provider.AuthExpired
	Unreachable Fault = "recipient"    // *provider.BadRecipient
	Refused     Fault = "refused"      // *provider.Rejected
	Unavailable Fault = "unavailable"  // *provider.Temporary: certainly not sent
	Lost        Fault = "lost"         // *provider.Ambiguous: taken, the answer lost
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

// fixture is a fresh line with what the laws need.
type fixture struct {
	Line
	h     Harness
	inbox *inbox
	to    provider.Address
}

func setup(t *testing.T, h Harness) *fixture {
	t.Helper()
	f := &fixture{Line: h.New(t), h: h, inbox: &inbox{arrived: make(chan provider.Event, 64)}}
	require.NotNil(t, f.Shown, "the harness must say what the contact sees")
	var err error
	f.to, err = f.Provider.Address(h.ChatIDs[0])
	require.NoError(t, err)
	return f
}

// open opens the line until the test ends.
func (f *fixture) open(t *testing.T) provider.Session {
	t.Helper()
	session, err := f.Provider.Open(t.Context(), f.Reference, f.inbox)
	require.NoError(t, err)
	t.Cleanup(func() { _ = session.Close(context.WithoutCancel(t.Context())) })
	return session
}

// text is a message to the contact with an id that the provider accepts.
func (f *fixture) text(text string) provider.Outbound {
	return provider.Outbound{ID: f.id("own " + text), To: f.to, Content: provider.Text{Text: text}}
}

// id is an id of the provider where it makes its own, else ours.
func (f *fixture) id(ours string) string {
	if own, ok := f.identifier(); ok {
		return own.NewMessageID()
	}
	return ours
}

// identifier is the provider where it chooses the ids of the line's messages.
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

// inbox keeps what a line receives.
type inbox struct{ arrived chan provider.Event }

// Receive takes everything.
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
