package guard

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"
)

// Lists says whether the allow-list names the host of a URL, or holds the
// address that it is written with. Names are not resolved. What is listed may
// be spoken to without TLS.
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
