package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"runtime/debug"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	"go.opentelemetry.io/otel/trace"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/mcp/remote"
	"github.com/trunklinehq/trunkline/messaging/media"
	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/server/auth"
	"github.com/trunklinehq/trunkline/server/internal/bridge"
	"github.com/trunklinehq/trunkline/server/internal/middleware"
	"github.com/trunklinehq/trunkline/server/quota"
)

// Config is what a server needs to know.
type Config struct {
	// DB is the database, such as package sqldb opens. Required; the caller closes it.
	DB *sqlx.DB
	// Secrets sign tokens and seal credentials: each has at least 32
	// characters, the newest comes first. The first signs and seals, all
	// verify and open. Required, and the same on every node.
	Secrets []Secret

	// BaseURL is the address that integrators and providers reach, without a
	// trailing slash. "": http://localhost:3000.
	BaseURL string
	// ClosedSignUp lets only the first account sign up.
	ClosedSignUp bool
	// TrustedProxies are the peers whose X-Forwarded-For is believed; no one
	// else's is.
	TrustedProxies []netip.Prefix
	// APILimit is how many requests a token has in a minute, on this node. 0:
	// no limit.
	APILimit int
	// Quotas bound what each account may have and do, unless an operator has set
	// others for it. nil: nothing is bounded.
	Quotas quota.Limits
	// GraphURL is the address of the Graph API. "": https://graph.facebook.com.
	GraphURL string
	// MetaAppSecret is the secret of the app at Meta that signs callbacks, for
	// references of the Cloud API and Messenger that have none of their own. "":
	// callbacks of such references are refused.
	MetaAppSecret Secret
	// MetaVerifyToken is what Meta says when it is told the address of the
	// callbacks, for such references. "": each has its own.
	MetaVerifyToken Secret
	// Media keeps the files of messages: a media.Folder, or a bucket that all
	// nodes reach. nil: messages come without their files, and none can be sent.
	Media media.Store
	// WebhookAllow names networks and hosts that outgoing requests may reach
	// although they are private or loopback. nil: none.
	WebhookAllow []string
	// MessageRetention is how long messages are kept. 0: for ever.
	MessageRetention time.Duration
	// DeliveryRetention is how long webhook deliveries are kept. 0: 30 days,
	// −1: for ever.
	DeliveryRetention time.Duration
	// Providers are kinds of references besides the built-in ones, which are
	// sandbox, Cloud API and Messenger. WhatsApp Web is one of them: see
	// web.New of package provider/web. nil: none.
	Providers []provider.Provider
	// Panel makes what is served at /panel/, given that path as browsers see it:
	// panel.Handler of package server/panel. nil: there is none, and / leads to
	// the API's documents.
	Panel func(at string) http.Handler
	// Models are language models by the name of their provider, such as those
	// of packages openai and anthropic; flows name them "provider/model". "mock"
	// is always there, unless it is replaced here. nil: none but that.
	Models map[string]llm.Model
	// Model is asked where a flow names none, as "openai/gpt-5". "": the mock
	// model, if there are no others.
	Model string
	// EmbeddingModel finds out what the files of projects mean, as
	// "openai/text-embedding-3-small"; what that takes is in the ledger. "": they
	// are searched by their words alone.
	EmbeddingModel string
	// SMTPURL is the mail server for links to set a new password, such as
	// smtps://user:password@smtp.example.org?from=chat@example.org; see package
	// mail. "": no mail is sent.
	SMTPURL Secret
	// OIDC is an OpenID provider at which users sign in. The zero value: there is
	// none.
	OIDC OIDC
	// PaymentsSecret is the signing secret of a webhook endpoint of Stripe's.
	// "": payment notifications are refused.
	PaymentsSecret Secret
	// Prices is a file, or an http or https URL, with prices of language models,
	// which go before the built-in ones; see usage.ParsePrices. "": none.
	Prices string
	// MCPLimit is how many calls of a function by agents a user has in a minute,
	// counted over all nodes. 0: 60, −1: no limit.
	MCPLimit int
	// MCPAccountLimit is how many of all functions an account has. 0: 600, −1:
	// no limit.
	MCPAccountLimit int
	// AuditRetention is how long the audit log of these calls is kept. 0: 90
	// days, −1: for ever.
	AuditRetention time.Duration
	// ChangeRetention is how long the audit logs of accounts are kept. 0: 365
	// days, −1: for ever.
	ChangeRetention time.Duration
	// Programs are MCP servers that this process starts, and speaks to over
	// their standard input and output, by the name by which flows call them.
	// Every account has them. nil: none.
	Programs map[string]remote.Program
	// Nodes are node types of flows and bots beside the built-in ones, such as run
	// a function of yours: see flow.NodeFunc. nil: none.
	Nodes []flow.NodeType
	// Functions registers further functions for agents with Server.MCP, behind
	// the same checks as the built-in ones; it may use the other services, too.
	// It is called once, in [New]. nil: none.
	Functions func(*Server) error
	// Exclusive says that no other process uses the database, so that what a
	// killed predecessor held is taken up at once.
	Exclusive bool
	// Tracer begins the spans of what happens, from a request or a network's
	// report to each attempt at a webhook, also where other nodes continue; it
	// samples and exports them. Spans have ids, kinds and counts, and neither
	// texts nor numbers of people. nil: nothing is traced.
	Tracer trace.TracerProvider

	Version string       // of the program; "": that of its build
	Logger  *slog.Logger // nil: slog.Default()
	// Now is the clock. nil: the database's, on which all nodes agree, and this
	// machine's for what others compare with their own clocks.
	Now func() time.Time

	ownClock func() time.Time       // Now as it was given
	local    func() time.Time       // Now, or this machine's: for what is only in memory
	flows    func(*runtime.Options) // changes what flows run with; nil: nothing

	noPrograms  bool          // files are looked into without ffmpeg and pdftoppm
	programTime time.Duration // that these have for a file; 0: what package media gives them

	passwords auth.Cost // of a password's hash
}

const (
	defaultBaseURL  = "http://localhost:3000"
	defaultGraphURL = "https://graph.facebook.com"
)

// withDefaults checks c and fills what is empty.
func (c Config) withDefaults() (Config, error) {
	if c.DB == nil {
		return c, errors.New("server: Config.DB is required")
	}
	for i, p := range c.Providers {
		if p == nil {
			return c, fmt.Errorf("server: Config.Providers[%d] is nil", i)
		}
	}
	c.BaseURL = cmp.Or(c.BaseURL, defaultBaseURL)
	base, err := url.Parse(c.BaseURL)
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") {
		return c, errors.New("server: Config.BaseURL must be an absolute http or https URL")
	}
	c.BaseURL = strings.TrimRight(c.BaseURL, "/")
	c.GraphURL = cmp.Or(c.GraphURL, defaultGraphURL)
	if c.OIDC.Issuer != "" && c.OIDC.ClientID == "" {
		return c, errors.New("server: Config.OIDC.ClientID is required with Config.OIDC.Issuer")
	}
	c.OIDC.Name = cmp.Or(c.OIDC.Name, "Single sign-on")
	if c.APILimit < 0 || c.MessageRetention < 0 {
		return c, errors.New("server: Config.APILimit and Config.MessageRetention must not be negative")
	}
	switch {
	case c.DeliveryRetention == 0:
		c.DeliveryRetention = 30 * 24 * time.Hour
	case c.DeliveryRetention < 0:
		c.DeliveryRetention = 0
	}
	if c.Version == "" {
		c.Version = BuildVersion()
	}
	c.Logger = cmp.Or(c.Logger, slog.Default())
	c.Logger = slog.New(middleware.RequestLog{Handler: middleware.NewOutageLog(c.Logger.Handler())})
	if c.ownClock = c.Now; c.Now == nil {
		c.Now = time.Now
	}
	c.local = c.Now
	return c, nil
}

// secrets are the plain strings of c.Secrets.
func (c Config) secrets() []string {
	out := make([]string, len(c.Secrets))
	for i, s := range c.Secrets {
		out[i] = string(s)
	}
	return out
}

// defaultModel names the model that is asked where a flow names none.
func (c Config) defaultModel() func(context.Context) (string, error) {
	return bridge.DefaultModel(c.Model, len(c.Models))
}

// BuildVersion is the version of the main module, or the revision it was built
// from.
func BuildVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return strings.TrimPrefix(v, "v")
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return fmt.Sprintf("0.0.0-%s", s.Value[:12])
		}
	}
	return "0.0.0-devel"
}
