// Package sandbox is the provider of references whose contacts are simulated,
// so that no account is needed. A message to a contact is delivered at once. A
// [Phone] writes, edits, deletes and reads messages for a contact. Groups exist
// as long as the [Provider]. Templates are reviewed by the rules of the
// WhatsApp Business platform.
//
// It serves for first steps and for tests, and is the shortest complete
// [provider.Provider].
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/trunklinehq/trunkline/provider"
)

// Kind is the kind of sandbox references.
const Kind provider.Kind = "provider-sandbox"

// ErrClosed is returned by the calls of a closed session.
var ErrClosed = errors.New("sandbox: the session is closed")

// suffix is the end of the chat ids of sandbox references: "ana@sandbox".
const suffix = "@sandbox"

// sendable are the content types that a simulated phone shows.
var sendable = []string{
	"text", "template", "buttons", "list", "location", "contacts", "reaction", "edit", "revoke", "poll", "interactive",
	"image", "video", "document", "audio", "sticker",
}

// maxFile limits the size of a file in bytes.
const maxFile = 100 << 20

// settingLate is the name of the setting for [Provider.LateIDs].
const settingLate = "lateIds"

// Provider opens sandbox references. The zero value is ready to use.
type Provider struct{ groups groups }

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
		Groups:    true,
		Typing:    true,
		Receipts:  true,
	}
}

// Settings lists one setting, which is optional.
func (*Provider) Settings() []provider.Setting {
	return []provider.Setting{{
		Name: settingLate, Boolean: true,
		Doc: "true has the network choose the ids of sent messages, as the Cloud API does: until it has answered, a message has another id. Default: false.",
	}}
}

// LateIDs reports whether the network chooses the message ids of a reference.
func (*Provider) LateIDs(settings provider.Settings) bool { return settings[settingLate] == "true" }

// NewMessageID returns an id for a message to send.
func (*Provider) NewMessageID() string { return "sandbox-" + uuid.Must(uuid.NewV7()).String() }

// Address parses a contact's name, with or without "@sandbox": 1 to 64 of a–z,
// 0–9, dot, dash and underscore. With "@g.us" it is the id of a group.
func (*Provider) Address(chatID string) (provider.Address, error) {
	name := strings.ToLower(strings.TrimSpace(chatID))
	end := suffix
	if strings.HasSuffix(name, groupSuffix) {
		end = groupSuffix
	}
	name = strings.TrimSuffix(name, end)
	valid := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r)
	}
	if name == "" || len(name) > 64 || strings.ContainsFunc(name, func(r rune) bool { return !valid(r) }) {
		return provider.Address{}, &provider.BadRecipient{
			Message: "must be a name of 1 to 64 letters, digits, dots, dashes or underscores, like ana@sandbox",
		}
	}
	return provider.Address{ChatID: name + end, Group: end == groupSuffix}, nil
}

// Open returns a session that delivers every message.
func (p *Provider) Open(_ context.Context, ref provider.Reference, inbox provider.Inbox) (provider.Session, error) {
	return &session{ref: ref.ID, late: p.LateIDs(ref.Settings), inbox: inbox, groups: &p.groups}, nil
}

type session struct {
	ref    provider.ReferenceID
	late   bool // the network chooses the message ids
	inbox  provider.Inbox
	groups *groups
	closed atomic.Bool
}

var (
	_ provider.Checker       = (*session)(nil)
	_ provider.Reader        = (*session)(nil)
	_ provider.GroupManager  = (*session)(nil)
	_ provider.NumberChecker = (*session)(nil)
	_ provider.Typist        = (*session)(nil)

	_ provider.LateIdentifier   = (*Provider)(nil)
	_ provider.TemplateReviewer = (*Provider)(nil)
	_ provider.Validator        = (*Provider)(nil)
)

// Send delivers the message to the contact's phone, which reports the delivery
// before Send returns, as fast networks do.
func (s *session) Send(ctx context.Context, out provider.Outbound) (provider.Receipt, error) {
	if err := s.alive(ctx); err != nil {
		return provider.Receipt{}, err
	}
	if !out.To.Group && !strings.HasSuffix(out.To.ChatID, suffix) {
		return provider.Receipt{}, &provider.BadRecipient{Message: "a sandbox reference writes to contacts like ana@sandbox, and to groups, only"}
	}
	if s.groups.left(s.ref, out.To.ChatID) {
		return provider.Receipt{}, &provider.Rejected{Code: notInGroup, Message: "the account has left this group"}
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
	delivered := &provider.StatusChange{MessageID: out.ID, Status: provider.StatusDelivered, At: time.Now()}
	if s.late {
		delivered.MessageID, delivered.OwnID = s.networkID(out.ID), out.ID
	}
	if err := s.inbox.Receive(ctx, s.ref, []provider.Event{delivered}); err != nil {
		return provider.Receipt{}, &provider.Temporary{Err: err} // a retry has the same id
	}
	return provider.Receipt{MessageID: delivered.MessageID}, nil
}

// networkID returns the network's id for a message with an id of ours. It is
// always the same, so that a repeat is recognized.
func (s *session) networkID(own string) string {
	return "sandbox-" + uuid.NewSHA1(uuid.NameSpaceOID, []byte(strconv.FormatInt(int64(s.ref), 10)+" "+own)).String()
}

// Check always succeeds.
func (s *session) Check(context.Context) (provider.Account, error) {
	return provider.Account{ID: "sandbox", Name: "Sandbox"}, nil
}

// CheckNumber reports that every number exists.
func (s *session) CheckNumber(ctx context.Context, who provider.Address) (provider.NumberCheck, error) {
	return provider.NumberCheck{Exists: new(true), Chat: who}, s.alive(ctx)
}

// alive returns an error when the session or the context has ended.
func (s *session) alive(ctx context.Context) error {
	err := ctx.Err()
	if s.closed.Load() {
		err = ErrClosed
	}
	if err != nil {
		return &provider.Temporary{Err: err}
	}
	return nil
}

// MarkRead does nothing.
func (s *session) MarkRead(context.Context, provider.Address, string) error { return nil }

// Typing does nothing.
func (s *session) Typing(ctx context.Context, _ provider.Address, _ string) error {
	return s.alive(ctx)
}

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
