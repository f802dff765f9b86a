package graph

import (
	"net/http"

	"github.com/trunklinehq/trunkline/internal/guard"
)

// otherHosts sends requests to hosts in links of the API's answers. It refuses
// private addresses, unless the process uses a proxy for all requests, which
// then resolves the names.
type otherHosts struct {
	guard   *guard.Guard
	direct  http.RoundTripper
	proxied http.RoundTripper
}

func newElsewhere(proxied http.RoundTripper) *otherHosts {
	g, err := guard.New(nil)
	if err != nil {
		panic("graph: " + err.Error())
	}
	return &otherHosts{guard: g, direct: g.Client().Transport, proxied: proxied}
}

// RoundTrip implements [http.RoundTripper].
func (e *otherHosts) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := e.guard.CheckURL(r.URL.String()); err != nil {
		return nil, err
	}
	if proxy, err := http.ProxyFromEnvironment(r); err != nil || proxy != nil {
		return e.proxied.RoundTrip(r)
	}
	return e.direct.RoundTrip(r)
}
