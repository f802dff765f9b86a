package protocol

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/trunklinehq/trunkline/mcp"
)

// Paths at which clients expect a [Handler] and its metadata.
const (
	Path         = "/mcp"
	MetadataPath = "/.well-known/oauth-protected-resource" + Path
)

// Options configures a [Handler].
type Options struct {
	// BaseURL is the address at which clients reach the server, without a path.
	// Required.
	BaseURL string
	// Authenticate returns the caller that a bearer token belongs to. The client
	// sees an [*mcp.Error], with the status of its code ("unauthorized",
	// "forbidden", "rate_limited"). Any other error is logged, and the client is
	// told to try again. Required.
	Authenticate func(ctx context.Context, token string) (mcp.Caller, error)
	// Context derives the context of calls from the context of an authenticated
	// request. nil: that context itself.
	Context func(ctx context.Context) context.Context
	// Name, Title and Version describe the server to clients; "": "trunkline",
	// "Trunkline" and the registry's version.
	Name, Title, Version string
	// Instructions tell a model what the server is for.
	Instructions string

	Resources   []Resource
	Prompts     []Prompt
	Completions []Completion // of their arguments

	// Server and Extend are for features that the registry does not have: tools
	// that answer with images, completion, elicitation. Extend is called once with
	// the SDK's server. Requests for such features are authenticated, and their
	// panics are recovered from. Limits, permissions and audit are up to them. With
	// either option, calls of functions pass through the SDK, which takes several
	// times the CPU.
	Server *sdk.ServerOptions
	Extend func(*sdk.Server)

	Logger *slog.Logger // nil: slog.Default()
}

// Handler serves a registry. It is an [http.Handler] for [Path].
type Handler struct {
	registry    *mcp.Registry
	options     Options
	logger      *slog.Logger
	base        *url.URL
	origin      *http.CrossOriginProtection
	self        *sdk.Implementation // as clients see it
	stream      http.Handler
	execute     sdk.MethodHandler   // Handler.call, for direct calls
	direct      map[string]bool     // functions that have direct calls
	tools       map[string]mcp.Tool // the registry's functions
	resources   map[string]*resource
	prompts     map[string]*prompt
	completions map[string]*completion // by the name of the argument
}

// New returns a Handler for the functions that the registry has now: register them
// before. Its errors name the option, or the function, that cannot be served.
func New(registry *mcp.Registry, options *Options) (*Handler, error) {
	h := &Handler{registry: registry, logger: slog.Default(), origin: http.NewCrossOriginProtection()}
	if options != nil {
		h.options = *options
	}
	if err := h.prepare(); err != nil {
		return nil, fmt.Errorf("protocol: %w", err)
	}
	return h, nil
}

func (h *Handler) prepare() error {
	o := &h.options
	if o.Authenticate == nil {
		return errors.New("Options.Authenticate is missing")
	}
	var err error
	if h.base, err = baseOf(o.BaseURL); err != nil {
		return err
	}
	if err = h.origin.AddTrustedOrigin(h.base.Scheme + "://" + h.base.Host); err != nil {
		return fmt.Errorf("Options.BaseURL: %w", err)
	}
	if o.Logger != nil {
		h.logger = o.Logger
	}
	h.self = h.implementation()
	server := sdk.NewServer(h.self, h.serverOptions())
	if err = h.fill(server); err != nil {
		return err
	}
	h.prepareDirect()
	server.AddReceivingMiddleware(h.recovered, h.visible, h.unknown, h.canonical)
	h.stream = sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{
		Stateless:                    true,
		PropagateRequestCancellation: true,
		MaxRequestBodyBytes:          maxBody,
		DisableLocalhostProtection:   true, // expected checks this, and knows the name that a proxy uses
	})
	return nil
}

// fill adds the contents of the options and the registry to the server.
func (h *Handler) fill(server *sdk.Server) error {
	if err := h.addTools(server); err != nil {
		return err
	}
	if err := h.addResources(server); err != nil {
		return err
	}
	if err := h.addPrompts(server); err != nil {
		return err
	}
	if err := h.addCompletions(); err != nil {
		return err
	}
	if h.options.Extend != nil {
		h.options.Extend(server)
	}
	return nil
}

func (h *Handler) implementation() *sdk.Implementation {
	o := h.options
	return &sdk.Implementation{
		Name: cmp.Or(o.Name, "trunkline"), Title: cmp.Or(o.Title, "Trunkline"), Version: cmp.Or(o.Version, h.registry.Version()),
		WebsiteURL: h.base.String(),
	}
}

// serverOptions declare that lists do not change while the server runs, and that
// caches must be private to the caller.
func (h *Handler) serverOptions() *sdk.ServerOptions {
	o := sdk.ServerOptions{Capabilities: &sdk.ServerCapabilities{
		Tools: &sdk.ToolCapabilities{}, Resources: &sdk.ResourceCapabilities{}, Prompts: &sdk.PromptCapabilities{},
	}}
	if h.options.Server != nil {
		o = *h.options.Server
	}
	if o.Instructions == "" {
		o.Instructions = h.options.Instructions
	}
	if len(h.options.Completions) > 0 {
		o.CompletionHandler = h.completer(o.CompletionHandler)
	}
	if o.SetCacheable == nil {
		o.SetCacheable = private
	}
	return &o
}

// listTTL is how long a client may cache a list, in milliseconds: the permissions
// of the caller can change.
const listTTL = 60_000

func private(_ context.Context, req sdk.Request, c *sdk.Cacheable) {
	c.CacheScope = "private"
	if _, read := req.(*sdk.ReadResourceRequest); !read {
		c.TTLMs = listTTL
	}
}

// Metadata serves, at [MetadataPath] and without authentication, what a client
// needs to know before it has a token (RFC 9728).
func (h *Handler) Metadata() http.Handler {
	return auth.ProtectedResourceMetadataHandler(&oauthex.ProtectedResourceMetadata{
		Resource:               h.base.JoinPath(Path).String(),
		ResourceName:           h.self.Title,
		BearerMethodsSupported: []string{"header"},
		ScopesSupported:        h.scopes(),
	})
}

// scopes returns the scopes that a token may need, each once.
func (h *Handler) scopes() []string {
	all := []string{mcp.PermissionExecute}
	for _, f := range h.tools {
		if f.Permission != "" {
			all = append(all, f.Permission)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
