package guard

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// privateNames lead to this machine or to a cloud's metadata service, whatever DNS
// says.
var privateNames = []string{
	"localhost", "localhost.localdomain", "ip6-localhost", "ip6-loopback",
	"metadata.google.internal", "instance-data.ec2.internal",
}

// CheckURL refuses a URL that is not absolute http or https, and one that clearly
// names a private target which is not allowed: an address in any notation that some
// resolver accepts, localhost, a metadata service. It does not resolve names. A
// refusal wraps [ErrRefused].
func (g *Guard) CheckURL(raw string) error {
	u, err := url.Parse(raw)
	if err != nil {
		return errors.New("malformed URL") // the parser's error may quote secrets
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return errors.New("the scheme must be http or https")
	}
	host := canonical(u.Hostname())
	if host == "" {
		return errors.New("the host is missing")
	}
	port, err := portOf(u)
	if err != nil {
		return err
	}
	if g.hosts[host] || g.hosts[host+":"+strconv.Itoa(int(port))] {
		return nil
	}
	if addr, ok := parseLoose(host); ok {
		if g.permits(netip.AddrPortFrom(addr, port)) {
			return nil
		}
		return refusal(u.Hostname())
	}
	for _, name := range privateNames {
		if host == name || name == "localhost" && strings.HasSuffix(host, ".localhost") {
			if name == "localhost" && g.allowsLoopback(port) {
				return nil
			}
			return refusal(u.Hostname())
		}
	}
	return nil
}

// allowsLoopback reports whether localhost may be dialled, because one of its two
// addresses is allowed.
func (g *Guard) allowsLoopback(port uint16) bool {
	return g.permits(netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), port)) ||
		g.permits(netip.AddrPortFrom(netip.IPv6Loopback(), port))
}

func portOf(u *url.URL) (uint16, error) {
	text := u.Port()
	switch {
	case text == "" && u.Scheme == "https":
		return 443, nil
	case text == "":
		return 80, nil
	}
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("the port must be a number from 1 to 65535")
	}
	return uint16(n), nil
}

// canonical normalizes a host as clients do: it replaces compatibility forms of
// letters, digits and dots as in IDNA, and removes a trailing dot.
func canonical(host string) string {
	host = norm.NFKC.String(host)
	host = strings.NewReplacer("。", ".", "．", ".", "｡", ".").Replace(host)
	return strings.TrimSuffix(strings.ToLower(host), ".")
}

// parseLoose parses an address as the most lenient resolver does: IPv6 with or
// without zone, and IPv4 with one to four decimal, octal or hexadecimal parts, of
// which the last fills the rest of the address.
func parseLoose(host string) (netip.Addr, bool) {
	if a, err := netip.ParseAddr(host); err == nil {
		return a.WithZone("").Unmap(), true
	}
	parts := strings.Split(host, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var v uint64
	for i, p := range parts {
		n, ok := parsePart(p)
		limit := uint64(math.MaxUint8)
		if i == len(parts)-1 {
			limit = 1<<(8*(5-len(parts))) - 1
		}
		if !ok || n > limit {
			return netip.Addr{}, false
		}
		if i == len(parts)-1 {
			v |= n
		} else {
			v |= n << (24 - 8*i)
		}
	}
	return netip.AddrFrom4([4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)}), true
}

func parsePart(p string) (uint64, bool) {
	base := 10
	switch {
	case strings.HasPrefix(p, "0x"):
		p, base = p[2:], 16
		if p == "" { // "0x" is zero to inet_aton
			return 0, true
		}
	case len(p) > 1 && p[0] == '0':
		base = 8
	}
	n, err := strconv.ParseUint(p, base, 32)
	return n, err == nil
}
