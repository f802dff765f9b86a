package guard

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"
)

// Lists reports whether the allow-list has the host of a URL, as a name or as an
// address. Names are not resolved. Hosts on the list may be reached without TLS.
func (g *Guard) Lists(u *url.URL) bool {
	host := canonical(u.Hostname())
	port, err := portOf(u)
	if err != nil || host == "" {
		return false
	}
	if g.allowsHost(net.JoinHostPort(host, strconv.Itoa(int(port)))) {
		return true
	}
	if host == "localhost" {
		return g.allowsLoopback(port)
	}
	addr, ok := parseLoose(host)
	if !ok {
		return false
	}
	if g.sockets[netip.AddrPortFrom(addr, port)] {
		return true
	}
	for _, p := range g.prefixes {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}
