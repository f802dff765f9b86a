// Package web is the provider of references of WhatsApp Web: accounts of phones,
// to which this program is linked as another device. It implements the protocol
// with whatsmeow, and is the only package that imports it.
//
//	p, err := web.New(ctx, db, nil)
//	session, err := p.Open(ctx, provider.Reference{ID: 1}, inbox) // the messaging service does this
//	err = session.(provider.Linker).Link(ctx, "")                 // the inbox gets a QR code to show
//
// An event is acknowledged to the network only after the Inbox has stored it. The
// keys of a reference are in the database that [New] is given, so that any
// process can open the reference. Two processes must not open it at the same
// time: see [provider.Reference.Leased].
//
// The network hides some phone numbers behind a LID. A reference finds such a
// number only in what it has itself received; references share no numbers.
package web

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"log/slog"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/jmoiron/sqlx"
	"go.mau.fi/whatsmeow"

	"github.com/trunklinehq/trunkline/internal/clockstep"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/guard"
	"github.com/trunklinehq/trunkline/provider"
)

// Kind is the kind of WhatsApp Web references.
const Kind provider.Kind = "provider-web"

// Options configures a [Provider].
type Options struct {
	// HTTPClient reaches the network, for its socket and for files. nil: one
	// that uses the proxies of the environment. A reference with a proxyUrl has
	// its own client.
	HTTPClient *http.Client
	// RootKey is the public key that signs the network's certificates; nil:
	// WhatsApp's. The first call of [New] sets it for the whole process. It is
	// for tests.
	RootKey *[32]byte
	// Allow lists private and loopback networks and hosts that the proxyUrl of a
	// reference may name. nil: none.
	Allow []string
	// Rates limits how fast each reference sends.
	Rates  Rates
	Logger *slog.Logger     // nil: slog.Default()
	Now    func() time.Time // nil: time.Now
}

// Provider opens WhatsApp Web references.
type Provider struct {
	opts    Options
	shown   func() time.Time // by the clock of the database; the same as opts.Now if that was given
	devices *devices
	proxies *guard.Guard // which addresses of proxies are allowed
}

var (
	_ provider.Connector  = (*Provider)(nil)
	_ provider.Identifier = (*Provider)(nil)
	_ provider.Validator  = (*Provider)(nil)
)

//go:embed migrations/*.sql
var migrations embed.FS

// Migrate creates or upgrades the tables of this package and of whatsmeow. [New]
// calls it, too.
func Migrate(ctx context.Context, db *sqlx.DB) error {
	d, err := database.Of(ctx, db)
	if err != nil {
		return fmt.Errorf("web: %w", err)
	}
	if err := upgrade(ctx, d); err != nil {
		return fmt.Errorf("web: preparing the tables of device keys: %w", err)
	}
	return database.Migrate(ctx, db, "web", migrations)
}

// New returns a Provider that stores the keys of references in db. It creates or
// upgrades its tables.
func New(ctx context.Context, db *sqlx.DB, opts *Options) (*Provider, error) {
	d, err := database.Of(ctx, db)
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	if err := Migrate(ctx, db); err != nil {
		return nil, err
	}
	p := &Provider{}
	if opts != nil {
		p.opts = *opts
	}
	p.opts.Logger = cmp.Or(p.opts.Logger, slog.Default())
	p.shown = p.opts.Now
	if p.opts.Now == nil {
		p.opts.Now, p.shown = time.Now, clockstep.Now(ctx, d)
	}
	if p.opts.HTTPClient == nil {
		p.opts.HTTPClient = &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone()}
	}
	if p.proxies, err = guard.New(p.opts.Allow); err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	p.opts.Rates = p.opts.Rates.withDefaults()
	setGlobals(p.opts.RootKey)
	p.devices = &devices{d, p.opts.Logger}
	return p, nil
}

// Kind returns [Kind].
func (*Provider) Kind() provider.Kind { return Kind }

// Limits of the sizes of files in bytes, as in WhatsApp's own clients.
const (
	maxImage    = 16 << 20
	maxVideo    = 64 << 20
	maxAudio    = 16 << 20
	maxDocument = 2 << 30
	maxSticker  = 1 << 20
)

// Capabilities lists what WhatsApp Web can send. It has no buttons and lists:
// phones show them only from businesses of the Cloud API.
func (*Provider) Capabilities() provider.Capabilities {
	return provider.Capabilities{
		Send: []string{
			"text", "image", "video", "audio", "document", "sticker", "location", "contacts", "reaction", "edit", "revoke", "poll", "vote",
		},
		Media: map[string]int64{
			"image": maxImage, "video": maxVideo, "audio": maxAudio, "document": maxDocument, "sticker": maxSticker,
		},
		Groups:   true,
		Typing:   true,
		Receipts: true,
		Calls:    true,
	}
}

// Names of the settings.
const (
	settingOnline  = "markOnline"
	settingHistory = "historySync"
	settingProxy   = "proxyUrl"
	settingReject  = "calls.reject"
	settingReply   = "calls.reply"
)

// Settings lists the settings of a reference, none of which is required.
func (*Provider) Settings() []provider.Setting {
	return []provider.Setting{
		{Name: settingOnline, Doc: "true shows the account as online while it is connected: its phone then stays silent. Default: false.", Boolean: true},
		{Name: settingHistory, Doc: "true imports the messages of the phone's last months when the reference is linked. Default: false.", Boolean: true},
		{Name: settingProxy, Doc: "Address of the HTTP or SOCKS5 proxy through which this reference connects: http, https or socks5.", Secret: true, Schemes: proxySchemes},
		{Name: settingReject, Doc: "true rejects the calls of people as soon as they ring. Default: false.", Boolean: true},
		{Name: settingReply, Doc: "The text that is sent to the caller of a call that calls.reject has rejected. Default: none."},
	}
}

// NewMessageID returns an id for a message to send.
func (*Provider) NewMessageID() string {
	var c *whatsmeow.Client // nil: the id does not depend on the account
	return c.GenerateMessageID()
}

// Forget deletes the keys of a reference.
func (p *Provider) Forget(ctx context.Context, ref provider.ReferenceID) error {
	if err := p.devices.forget(ctx, ref); err != nil {
		return fmt.Errorf("web: %w", err)
	}
	return nil
}

// WhatsApp's limits.
const (
	maxText    = 65536 // characters
	maxCaption = 1024
	maxCards   = 257
)

// Validate checks content against WhatsApp's limits.
func (*Provider) Validate(c provider.Content) error {
	switch x := c.(type) {
	case provider.Text:
		return within("text", x.Text, maxText)
	case provider.Edit:
		return within("text", x.Text, maxText)
	case provider.Media:
		return within("caption", x.Caption, maxCaption)
	case provider.Contacts:
		if len(x.Contacts) == 0 || len(x.Contacts) > maxCards {
			return &provider.Invalid{Field: "contacts", Message: "must have 1 to 257 cards"}
		}
	}
	return nil
}

func within(field, s string, limit int) error {
	if utf8.RuneCountInString(s) > limit {
		return &provider.Invalid{Field: field, Message: "is too long for WhatsApp"}
	}
	return nil
}
