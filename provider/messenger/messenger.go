package messenger

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph"
)

// Kind is the kind of the references of this provider.
const Kind provider.Kind = "provider-messenger"

// window is how long messages without a tag are allowed after a contact's last
// one.
const window = 24 * time.Hour

// The tags that Meta still takes, with how long after the contact's last
// message. https://developers.facebook.com/docs/messenger-platform/send-messages/message-tags
const (
	TagHumanAgent       = "HUMAN_AGENT"       // a person answers; it requires the permission Human Agent
	TagCustomerFeedback = "CUSTOMER_FEEDBACK" // with the template of that name
)

var tags = map[string]time.Duration{
	TagHumanAgent:       7 * 24 * time.Hour,
	TagCustomerFeedback: 7 * 24 * time.Hour,
}

// pageID is the name of the setting, in addition to those of all references of
// the Graph API.
const pageID = "pageId"

// Options configures the provider. Nil and the zero value mean the defaults.
type Options = graph.ProviderOptions

// Provider is the provider of all pages. It is a [provider.Caller]. Its
// sessions are a [provider.Checker], a [provider.Subscriber], a
// [provider.Reader], a [provider.Typist], a [provider.MediaUploader] and a
// [provider.Namer].
type Provider struct {
	graph    *graph.Client
	defaults provider.Settings
	log      *slog.Logger
	now      func() time.Time
}

var (
	_ provider.Caller    = (*Provider)(nil)
	_ provider.Defaulter = (*Provider)(nil)
	_ provider.Inspector = (*Provider)(nil)
)

// New returns the provider. It panics when Options.GraphURL is not an http
// address.
func New(o *Options) *Provider {
	if o == nil {
		o = &Options{}
	}
	p := &Provider{graph: o.Client(), log: cmp.Or(o.Logger, slog.Default()), now: o.Now, defaults: graph.Defaults(o.AppSecret, o.VerifyToken)}
	if p.now == nil {
		p.now = time.Now
	}
	return p
}

// Defaults returns the secret and the token of the Options.
func (p *Provider) Defaults() provider.Settings { return maps.Clone(p.defaults) }

// Kind returns [Kind].
func (*Provider) Kind() provider.Kind { return Kind }

// Capabilities lists what a page can do.
func (*Provider) Capabilities() provider.Capabilities {
	media := make(map[string]int64, len(mediaLimits))
	for kind, limit := range mediaLimits {
		media[string(kind)] = limit
	}
	return provider.Capabilities{
		Send:     slices.Clone(sendable),
		Media:    media,
		Window:   window,
		Tags:     maps.Clone(tags),
		Typing:   true,
		Receipts: true,
		Names:    true,
	}
}

// Settings lists the settings of a page.
func (*Provider) Settings() []provider.Setting {
	return graph.Credentials("A page access token with pages_messaging and pages_manage_metadata, made from a long-lived user token.",
		provider.Setting{Name: pageID, Doc: "The id of the Facebook page.", Required: true, Digits: true})
}

// Inspect warns if callbacks cannot be verified.
func (*Provider) Inspect(s provider.Settings) []provider.Health { return graph.Inspect(s) }

// Open returns the session of a page, without a request to the network. It
// fails if a setting is missing or cannot be an id.
func (p *Provider) Open(_ context.Context, ref provider.Reference, _ provider.Inbox) (provider.Session, error) {
	c, err := p.Client(ref.Settings)
	if err != nil {
		return nil, fmt.Errorf("messenger: reference %d: %w", ref.ID, err)
	}
	c.log = c.log.With(slog.Int64("reference", int64(ref.ID)))
	return &session{Client: c, now: p.now}, nil
}
