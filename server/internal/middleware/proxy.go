package middleware

import (
	"net/http"
	"net/netip"
	"strings"
)

// ClientOf returns who sent r. X-Forwarded-For is read from its end, where the
// nearest proxy wrote, and only as far as its writers are trusted.
func ClientOf(r *http.Request, trusted []netip.Prefix) netip.Addr {
	peer := ParseAddr(r.RemoteAddr)
	if !IsTrusted(peer, trusted) {
		return peer
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0; i-- {
		hop := ParseAddr(strings.TrimSpace(hops[i]))
		if !hop.IsValid() {
			return peer // it was not written by a proxy of ours
		}
		if peer = hop; !IsTrusted(hop, trusted) {
			return hop
		}
	}
	return peer
}

// ParseAddr reads an address with or without a port; what is neither is the
// invalid address.
func ParseAddr(s string) netip.Addr {
	if ap, err := netip.ParseAddrPort(s); err == nil {
		return ap.Addr().Unmap()
	}
	a, err := netip.ParseAddr(strings.Trim(s, "[]"))
	if err != nil {
		return netip.Addr{}
	}
	return a.Unmap()
}

// IsTrusted reports whether an address is one of a trusted proxy.
func IsTrusted(a netip.Addr, trusted []netip.Prefix) bool {
	for _, p := range trusted {
		if p.Contains(a.WithZone("")) {
			return true
		}
	}
	return false
}
