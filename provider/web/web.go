// Package web is a line of WhatsApp Web: an account of a phone, to which this
// program is linked as a further device. It speaks the protocol through
// whatsmeow, and is the only package that imports it.
//
//	lines, err := web.New(ctx, db, nil)
//	line, err := lines.Open(ctx, provider.Reference{ID: 1}, inbox) // the messaging service does
//	err = line.(provider.Linker).Link(ctx, "")                      // inbox gets a QR code to show
//
// What is received is acknowledged to the network only when the Inbox has
// stored it. The keys of a line are in the database that [New] is given, so that
// whichever process holds the line next continues with it. Two processes must not
// hold one line: see [provider.Reference.Held].
//
// A phone number that the network hides behind a LID is resolved only by what
// the line itself was told: lines know nothing of each other.
package web

import (
	"context"
	"embed"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/jmoiron/sqlx"
	"go.mau.fi/whatsmeow"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/guard"
	"github.com/trunklinehq/trunkline/provider"
)

// Kind is the kind of WhatsApp Web lines.
const Kind provider.Kind = "provider-web"

// Options configures a [Provider].
type Options struct {
	// HTTPClient reaches the network, for its socket and for files. nil: one
	// that uses the proxies of the environment. A line with a proxyUrl has its
	// own.
	HTTPClient *http.Client
	// RootKey is the key that signs the network's certificates; nil: WhatsApp's.
	// It is one variable of the process, which the first [New] sets. For tests.
	RootKey *[32]byte
	// Allow names networks and hosts at which the proxyUrl of a line may lie
	// although they are private or loopback. nil: none.
	Allow  []string
	Rates  Rates
	Logger *slog.Logger     // nil: slog.Default()
	Now    func() time.Time // nil: time.Now
}

// Provider opens WhatsApp Web lines.
type Provider struct {
	opts    Options
	devices *devices
	proxies *guard.Guard // what may be dialled as a proxy: users name it
}

var (
	_ provider.Connector  = (*Provider)(nil)
	_ provider.Identifier = (*Provider)(nil)
	_ provider.Validator  = (*Provider)(nil)
)

//go:embed migrations/*.sql
var migrations embed.FS

// Migrate creates or upgrades the tables of this package, and whatsmeow's. [New]
// does it, too.
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

// New returns a Provider whose lines keep their keys in db, and creates or
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
	if p.opts.Logger == nil {
		p.opts.Logger = slog.Default()
	}
	if p.opts.Now == nil {
		p.opts.Now = time.Now
	}
	if p.opts.HTTPClient == nil {
		p.opts.HTTPClient = &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone()}
	}
	if p.proxies, err = guard.New(p.opts.Allow); err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	p.opts.Rates = p.opts.Rates.withDefaults()
	quiet(p.opts.RootKey)
	p.devices = &devices{d, p.opts.Logger}
	return p, nil
}

// Kind returns [Kind].
func (*Provider) Kind() provider.Kind { return Kind }

// Most bytes of files, as WhatsApp's own clients have it.
const (
	maxImage    = 16 << 20
	maxVideo    = 64 << 20
	maxAudio    = 16 << 20
	maxDocument = 2 << 30
	maxSticker  = 1 << 20
)

// Capabilities lists what WhatsApp Web can send. Buttons and lists are shown by
// phones only when businesses of the Cloud API send them.
func (*Provider) Capabilities() provider.Capabilities {
	return provider.Capabilities{
		Send: []string{
			"text", "image", "video", "audio", "document", "sticker", "location", "contacts", "reaction", "edit", "revoke",
		},
		Media: map[string]int64{
			"image": maxImage, "video": maxVideo, "audio": maxAudio, "document": maxDocument, "sticker": maxSticker,
		},
		Groups:   true,
		Typing:   true,
		Receipts: true,
	}
}

// Names of the settings.
const (
	settingOnline  = "markOnline"
	settingHistory = "historySync"
	settingProxy   = "proxyUrl"
)

// Settings lists what a line may be configured with; it needs nothing.
func (*Provider) Settings() []provider.Setting {
	return []provider.Setting{
		{Name: settingOnline, Doc: "true shows the account as online while it is connected: its phone then stays silent. Default: false.", Boolean: true},
		{Name: settingHistory, Doc: "true imports the messages of the phone's last months when the line is linked. Default: false.", Boolean: true},
		{Name: settingProxy, Doc: "Address of the HTTP or SOCKS5 proxy through which this line connects: http, https or socks5.", Secret: true, Schemes: proxySchemes},
	}
}

// NewMessageID chooses the id of a message to send.
func (*Provider) NewMessageID() string {
	var anybody *whatsmeow.Client // ids need not name the account
	return anybody.GenerateMessageID()
}

// Forget deletes the keys of a line.
func (p *Provider) Forget(ctx context.Context, ref provider.ReferenceID) error {
	if err := p.devices.forget(ctx, ref); err != nil {
		return fmt.Errorf("web: %w", err)
	}
	return nil
}
