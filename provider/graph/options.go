package graph

import (
	"log/slog"
	"net/http"
	"time"
)

// ProviderOptions configures a provider whose references use the Graph API. The zero
// value means the defaults.
type ProviderOptions struct {
	// GraphURL is the address of the Graph API without version; "":
	// [DefaultURL].
	GraphURL string
	// AppSecret is the secret of the app for references without an appSecret.
	// "": there is none.
	AppSecret string
	// VerifyToken is the token of the handshake for references without a
	// verifyToken. "": there is none.
	VerifyToken string
	// HTTPClient sends the requests; nil: [NewHTTPClient]. Its
	// RoundTripper must not repeat POST requests.
	HTTPClient *http.Client
	// Logger logs the trace ids of refused requests; nil: slog.Default().
	Logger *slog.Logger
	// Now is the clock; nil: time.Now.
	Now func() time.Time
}

// Client returns a client without a token for the provider.
func (o *ProviderOptions) Client() *Client {
	return New(&Options{URL: o.GraphURL, HTTPClient: o.HTTPClient, Now: o.Now})
}
