// Package cloud is the provider of references of the WhatsApp Business Cloud
// API. It sends every content type within Meta's limits and rates, fetches
// files, manages templates, checks credentials, marks messages as read, and
// reads everything that a number receives. What it does not support, it reports
// as [provider.Raw].
//
// It stores nothing and serves no route: package messaging stores what it
// parses, and the handler of the callback's address passes it the bytes. A
// program without messaging can use it alone:
//
//	phones := cloud.New(nil)
//	session, err := phones.Open(ctx, provider.Reference{ID: 1, Settings: settings}, inbox)
//	to, err := phones.Address("+1 650 555 1234")
//	receipt, err := session.Send(ctx, provider.Outbound{ID: "order-7", To: to, Content: provider.Text{Text: "Hello"}})
//
// A [Client] has typed calls for what the common contract does not contain:
// flows, catalogs, payments, profiles, registration and marketing messages.
//
//	client, err := phones.Client(settings)
//	sent, err := client.Send(ctx, cloud.Message{To: "16505551234", Body: cloud.Interactive{
//		Body: "Book a table", Action: cloud.Flow{ID: "123456", Text: "Book now", Screen: "BOOKING"},
//	}})
package cloud

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph"
)

// Kind is the kind of the references of this provider.
const Kind provider.Kind = "provider-cloud"

// window is how long free-form messages are allowed after a contact's last one.
const window = 24 * time.Hour

// The names of the settings, in addition to those of all references of the
// Graph API.
const (
	phoneNumberID     = "phoneNumberId"
	businessAccountID = "businessAccountId"
)

// Options configures the provider. Nil and the zero value mean the defaults.
type Options = graph.ProviderOptions

// Provider is the provider of all references of the Cloud API. It is a
// [provider.Caller]. Its sessions are a [provider.Checker], a
// [provider.Subscriber], a [provider.Reader], a [provider.Typist], a
// [provider.MediaFetcher] and a [provider.TemplateManager].
type Provider struct {
	graph    *graph.Client
	limiter  *limiter
	defaults provider.Settings
	log      *slog.Logger
}

var (
	_ provider.Caller    = (*Provider)(nil)
	_ provider.Completer = (*Provider)(nil)
	_ provider.Defaulter = (*Provider)(nil)
	_ provider.Inspector = (*Provider)(nil)
)

// New returns the provider. It panics when Options.GraphURL is not an http
// address.
func New(o *Options) *Provider {
	if o == nil {
		o = &Options{}
	}
	return &Provider{graph: o.Client(), limiter: newLimiter(o.Now), log: cmp.Or(o.Logger, slog.Default()), defaults: graph.Defaults(o.AppSecret, o.VerifyToken)}
}

// Defaults returns the secret and the token of the Options.
func (p *Provider) Defaults() provider.Settings { return maps.Clone(p.defaults) }

// Kind returns [Kind].
func (*Provider) Kind() provider.Kind { return Kind }

// Capabilities lists what a reference can do.
func (*Provider) Capabilities() provider.Capabilities {
	media := make(map[string]int64, len(mediaLimits))
	for kind, limit := range mediaLimits {
		media[string(kind)] = limit
	}
	return provider.Capabilities{
		Send:      slices.Clone(sendable),
		Media:     media,
		Window:    window,
		Templates: true,
		Groups:    true,
		Typing:    true,
		Receipts:  true,
	}
}

// Settings lists the settings of a reference.
func (*Provider) Settings() []provider.Setting {
	return graph.Credentials("A token of a system user with whatsapp_business_messaging and whatsapp_business_management.",
		provider.Setting{Name: phoneNumberID, Doc: "The id of the phone number, as the app's dashboard shows it; not the number.", Required: true, Digits: true},
		provider.Setting{Name: businessAccountID, Doc: "The id of the WhatsApp Business account that the number belongs to. The network is asked for it when it is absent.", Digits: true},
	)
}

// Open returns the session of a reference, without a request to the network. It
// fails if a setting is missing or cannot be an id.
func (p *Provider) Open(_ context.Context, ref provider.Reference, _ provider.Inbox) (provider.Session, error) {
	c, err := p.Client(ref.Settings)
	if err != nil {
		return nil, fmt.Errorf("cloud: reference %d: %w", ref.ID, err)
	}
	c.log = c.log.With(slog.Int64("reference", int64(ref.ID)))
	return &session{Client: c, verify: strings.TrimSpace(ref.Settings[graph.VerifyToken]), callback: ref.CallbackURL}, nil
}
