package httpapi

import (
	"context"
	"net/netip"

	"github.com/trunklinehq/trunkline/server/auth"
)

// Request is what is known of a request beside its *http.Request. One
// goroutine at a time works on it.
type Request struct {
	ID      string
	Client  netip.Addr  // who sent it, behind trusted proxies
	Agent   string      // what the client calls itself
	Route   string      // template of the route that answers; "": none
	Account string      // of the caller, once known
	Caller  auth.Caller // At /mcp, once known
	Head    bool        // a HEAD, answered as GET
}

// From is the client as it is shown with its session.
func (r *Request) From() auth.Client { return auth.Client{Address: r.Client, Agent: r.Agent} }

type requestKey struct{}

// WithRequest returns ctx with a request.
func WithRequest(ctx context.Context, r *Request) context.Context {
	return context.WithValue(ctx, requestKey{}, r)
}

// RequestOf returns the request of a context that came through the middleware.
func RequestOf(ctx context.Context) *Request {
	if r, ok := ctx.Value(requestKey{}).(*Request); ok {
		return r
	}
	return &Request{}
}
