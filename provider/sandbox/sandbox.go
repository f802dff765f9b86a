// Package sandbox is a line whose contacts are simulated: no account is needed
// anywhere. What is sent to a contact is delivered at once; what the contact
// writes and reads goes through a [Phone].
//
// It is the newcomer's first line, the peer of tests, and the shortest
// complete [provider.Provider].
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/trunklinehq/trunkline/provider"
)

// Kind is the kind of sandbox lines.
const Kind provider.Kind = "provider-sandbox"

// ErrClosed is why a closed session sends nothing.
var ErrClosed = errors.New("sandbox: the session is closed")

// suffix ends the chat ids of sandbox lines: "ana@sandbox".
const suffix = "@sandbox"

// sendable are the content types that a simulated phone shows.
var sendable = []string{
	"text", "template", "buttons", "list", "location", "contacts", "reaction", "edit", "revoke", "poll", "interactive",
	"image", "video", "document", "audio", "sticker",
}

// maxFile is the most bytes of a file that a simulated phone shows.
const maxFile = 100 << 20

// Provider opens sandbox lines. The zero value is ready to use.
type Provider struct{}

// New returns a Provider.
func New() *Provider { return &Provider{} }

// Kind returns [Kind].
func (*Provider) Kind() provider.Kind { return Kind }

// Capabilities lists what a simulated phone can show.
func (*Provider) Capabilities() provider.Capabilities {
	return provider.Capabilities{
		Send: slices.Clone(sendable),
		Media: map[string]int64{
			"image": maxFile, "video": maxFile, "document": maxFile, "audio": maxFile, "sticker": maxFile,
		},
		Templates: true,
		Receipts:  true,
	}
}

// Settings is empty: a sandbox line needs none.
func (*Provider) Settings() []provider.Setting { return nil }

// NewMessageID chooses the id of a message to send.
func (*Provider) NewMessageID() string { return "sandbox-" + uuid.Must(uuid.NewV7()).String() }

// Address reads a contact's name, with or without "@sandbox": 1 to 64 of
// a–z, 0–9, dot, dash and underscore.
func (*Provider) Address(chatID string) (provider.Address, error) {
	name := strings.TrimSuffix(strings.ToLower(strings.TrimSpace(chatID)), suffix)
	valid := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r)
	}
	if name == "" || len(name) > 64 || strings.ContainsFunc(name, func(r rune) bool { return !valid(r) }) {
		return provider.Address{}, &provider.BadRecipient{
			Message: "must be a name of 1 to 64 letters, digits, dots, dashes or underscores, like ana@sandbox",
		}
	}
	return provider.Address{ChatID: name + suffix}, nil
}

// Open returns a session that delivers everything.
func (*Provider) Open(_ context.Context, ref provider.Reference, inbox provider.Inbox) (provider.Session, error) {
	return &session{ref: ref.ID, inbox: inbox}, nil
}

type session struct {
	ref    provider.ReferenceID
	inbox  provider.Inbox
	closed atomic.Bool
}

// Send puts the message on the contact's phone, which reports its delivery
// before the send returns, as fast networks do.
func (s *session) Send(ctx context.Context, out provider.Outbound) (provider.Receipt, error) {
	if err := ctx.Err(); err != nil {
		return provider.Receipt{}, &provider.Temporary{Err: err}
	}
	if s.closed.Load() {
		return provider.Receipt{}, &provider.Temporary{Err: ErrClosed}
	}
	if !strings.HasSuffix(out.To.ChatID, suffix) {
		return provider.Receipt{}, &provider.BadRecipient{Message: "a sandbox line writes to contacts like ana@sandbox only"}
	}
	if out.Content == nil {
		return provider.Receipt{}, &provider.Unsupported{What: "a message without content"}
	}
	if kind := out.Content.Type(); !slices.Contains(sendable, kind) {
		return provider.Receipt{}, &provider.Unsupported{What: "content of type " + kind}
	}
	if err := load(ctx, out.Content); err != nil {
		return provider.Receipt{}, &provider.Temporary{Err: err}
	}
	err := s.inbox.Receive(ctx, s.ref, []provider.Event{
		&provider.StatusChange{MessageID: out.ID, Status: provider.StatusDelivered, At: time.Now()},
	})
	if err != nil {
		return provider.Receipt{}, &provider.Temporary{Err: err} // a repeat has the same id
	}
	return provider.Receipt{MessageID: out.ID}, nil
}

// Check always succeeds.
func (s *session) Check(context.Context) (provider.Account, error) {
	return provider.Account{ID: "sandbox", Name: "Sandbox"}, nil
}

// MarkRead has nobody to tell.
func (s *session) MarkRead(context.Context, provider.Address, string) error { return nil }

// Close makes the session refuse further sends.
func (s *session) Close(context.Context) error {
	s.closed.Store(true)
	return nil
}

// load reads the file of a message to its end, as a phone does.
func load(ctx context.Context, content provider.Content) error {
	m, is := content.(provider.Media)
	if !is || m.Open == nil {
		return nil
	}
	file, err := m.Open(ctx)
	if err != nil {
		return fmt.Errorf("sandbox: opening a file: %w", err)
	}
	defer file.Close()
	if _, err := io.Copy(io.Discard, file); err != nil {
		return fmt.Errorf("sandbox: reading a file: %w", err)
	}
	return nil
}
