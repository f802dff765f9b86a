package passkey

import (
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/trunklinehq/trunkline/internal/apierr"
)

// ErrSite reports an address at which browsers make no passkeys.
var ErrSite = apierr.New("passkey", apierr.NotFound,
	"this server has no passkeys: they need a base URL with https and a host name, or http://localhost")

// Site is where browsers find the server. Passkeys are bound to it: they work at
// no other, which is why they cannot be phished. The zero value is no site.
type Site struct {
	ID     string // host name, to which passkeys are bound: the ID of the relying party
	Origin string // as browsers write it: "https://example.org", "http://localhost:3000"
}

// SiteOf is the site of the address that browsers open. It returns [ErrSite] for
// one at which they make no passkeys: without https, or with an IP address. Of
// plain http they take only localhost. A name that is not ASCII is to be given in
// the form in which the DNS has it.
func SiteOf(address string) (Site, error) {
	u, err := url.Parse(address)
	if err != nil {
		return Site{}, ErrSite
	}
	host, port := strings.ToLower(u.Hostname()), u.Port()
	secure := u.Scheme == "https"
	if !secure && (u.Scheme != "http" || host != "localhost") {
		return Site{}, ErrSite
	}
	if _, err := netip.ParseAddr(host); err == nil || !isName(host) {
		return Site{}, ErrSite
	}
	at := host
	if port != "" && port != map[bool]string{true: "443", false: "80"}[secure] {
		at = net.JoinHostPort(host, port)
	}
	return Site{ID: host, Origin: u.Scheme + "://" + at}, nil
}

// isName says whether a host is a name of letters, digits, hyphens and dots.
func isName(host string) bool {
	return host != "" && !strings.ContainsFunc(host, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '.'
	})
}
