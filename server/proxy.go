package server

import (
	"net/http"
	"net/netip"
	"strings"
)

// clientOf returns who sent r. X-Forwarded-For is read from its end, where the
// nearest proxy wrote, and only as far as its writers are trusted.
func clientOf(r *http.Request, trusted []netip.Prefix) netip.Addr {
	peer := parseAddr(r.RemoteAddr)
	if !isTrusted(peer, trusted) {
		return peer
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0; i-- {
		hop := parseAddr(strings.TrimSpace(hops[i]))
		if !hop.IsValid() {
			return peer // whoever wrote this, it is no proxy of ours
		}
		if peer = hop; !isTrusted(hop, trusted) {
			return hop
		}
	}
	return peer
}

// parseAddr reads an address with or without a port; what is neither is the
// invalid address.
func parseAddr(s string) netip.Addr {
	if ap, err := netip.ParseAddrPort(s); err == nil {
		return ap.Addr().Unmap()
	}
	a, err := netip.ParseAddr(strings.Trim(s, "[]"))
	if err != nil {
		return netip.Addr{}
	}
	return a.Unmap()
}

func isTrusted(a netip.Addr, trusted []netip.Prefix) bool {
	for _, p := range trusted {
		if p.Contains(a.WithZone("")) {
			return true
		}
	}
	return false
}
