// Package guard makes HTTP clients that refuse to connect to private targets:
// loopback, private and link-local networks, multicast, metadata services.
//
// The decisive check takes place when a connection is opened, on the address that
// is about to be dialled. It does not matter what name was resolved or how the
// address was written. [Guard.CheckURL] only reports early, to the person who
// enters a URL, why connections would be refused.
package guard

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"code.dny.dev/ssrf"
)

// ErrRefused is wrapped by every refusal.
var ErrRefused = errors.New("private address refused")

// Guard decides which targets may be reached. It is safe for concurrent use.
type Guard struct {
	public   *ssrf.Guardian
	prefixes []netip.Prefix
	sockets  map[netip.AddrPort]bool // addresses that are allowed on one port
	hosts    map[string]bool         // "name" or "name:port"

	// below is nil outside of tests. It is called for every address that is about
	// to be dialled, after the check, and may refuse it.
	below func(address string) error
}

// wall is nil outside tests; see [Wall].
var wall atomic.Pointer[func(address string) error]

// Wall makes fn an additional check of all Guards of the process. It is called for
// every address ("10.0.0.1:80") that is about to be dialled, and an error refuses
// it. nil removes it. It is for tests of programs that use Guards internally.
func Wall(fn func(address string) error) {
	if fn == nil {
		wall.Store(nil)
		return
	}
	wall.Store(&fn)
}

// wires is nil outside tests; see [Dial].
var wires atomic.Pointer[Dialer]

// Dialer opens a connection to an address ("10.0.0.1:80").
type Dialer func(ctx context.Context, address string) (net.Conn, error)

// Dial makes fn open the connections of all Guards of the process, to addresses that
// they permit. nil restores those of the system. It is for tests whose network is in
// memory.
func Dial(fn Dialer) {
	if fn == nil {
		wires.Store(nil)
		return
	}
	wires.Store(&fn)
}

// azureHost is the metadata service of virtual machines on Azure, the only one
// whose address looks public.
var azureHost = netip.MustParsePrefix("168.63.129.16/32")

// New returns a Guard that refuses every private target except those of allow:
// CIDRs (10.0.0.0/8), addresses (10.1.2.3, 10.1.2.3:8080, [::1]:8080) and host
// names (hooks.internal, hooks.internal:8080), whatever they resolve to.
func New(allow []string) (*Guard, error) {
	g := &Guard{sockets: map[netip.AddrPort]bool{}, hosts: map[string]bool{}}
	for _, entry := range allow {
		if entry = strings.TrimSpace(entry); entry == "" {
			continue
		}
		if err := g.allow(entry); err != nil {
			return nil, err
		}
	}
	var v4, v6 []netip.Prefix
	for _, p := range g.prefixes {
		if p.Addr().Is4() {
			v4 = append(v4, p)
		} else {
			v6 = append(v6, p)
		}
	}
	g.public = ssrf.New(ssrf.WithAnyPort(), ssrf.WithDeniedV4Prefixes(azureHost),
		ssrf.WithAllowedV4Prefixes(v4...), ssrf.WithAllowedV6Prefixes(v6...))
	return g, nil
}

// allow adds one entry of the allow-list.
func (g *Guard) allow(entry string) error {
	if p, err := netip.ParsePrefix(entry); err == nil {
		g.prefixes = append(g.prefixes, p.Masked())
		return nil
	}
	if s, err := netip.ParseAddrPort(entry); err == nil {
		g.sockets[netip.AddrPortFrom(s.Addr().Unmap(), s.Port())] = true
		return nil
	}
	if a, err := netip.ParseAddr(strings.Trim(entry, "[]")); err == nil {
		a = a.Unmap()
		g.prefixes = append(g.prefixes, netip.PrefixFrom(a, a.BitLen()))
		return nil
	}
	name, port, hasPort := strings.Cut(entry, ":")
	name = canonical(name)
	if !isName(name) {
		return fmt.Errorf("--webhook-allow: %q is neither a network, an address nor a host name", entry)
	}
	if !hasPort {
		g.hosts[name] = true
		return nil
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("--webhook-allow: the port of %q is no number up to 65535", entry)
	}
	g.hosts[net.JoinHostPort(name, port)] = true
	return nil
}

func isName(s string) bool {
	if s == "" || len(s) > 253 {
		return false
	}
	for _, r := range s {
		if !(r == '-' || r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r > 127) {
			return false
		}
	}
	return true
}

// Client returns a client that reaches only targets that g permits. It verifies
// TLS, uses no proxy, returns redirects to the caller, requests no compression and
// keeps idle connections. It has no timeout for a whole request: use the request's
// context.
func (g *Guard) Client() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			DialContext:            g.dial,
			ForceAttemptHTTP2:      true,
			HTTP2:                  &http.HTTP2Config{SendPingTimeout: 20 * time.Second, PingTimeout: 5 * time.Second},
			MaxIdleConns:           1024,
			MaxIdleConnsPerHost:    64,               // connections of a dispatcher: with fewer they would be dialled again and again
			IdleConnTimeout:        50 * time.Second, // less than the 60 s of common servers
			TLSHandshakeTimeout:    10 * time.Second,
			MaxResponseHeaderBytes: 64 << 10,
			DisableCompression:     true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Through returns a copy of a transport that connects through a proxy, if g permits
// to dial the proxy.
func (g *Guard) Through(proxy *url.URL, t *http.Transport) *http.Transport {
	t = t.Clone()
	t.Proxy, t.DialContext = http.ProxyURL(proxy), g.dial
	return t
}

// dial opens a connection. A name on the allow-list is always permitted; otherwise
// the address decides.
func (g *Guard) dial(ctx context.Context, network, address string) (net.Conn, error) {
	trusted := g.allowsHost(address)
	if fn := wires.Load(); fn != nil {
		if err := g.check(address); err != nil && !trusted {
			return nil, err
		}
		return (*fn)(ctx, address)
	}
	d := net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	// Control runs after resolution, before each connect.
	d.Control = func(_, address string, _ syscall.RawConn) error {
		if !trusted {
			if err := g.check(address); err != nil {
				return err
			}
		}
		if g.below != nil {
			return g.below(address)
		}
		if fn := wall.Load(); fn != nil {
			return (*fn)(address)
		}
		return nil
	}
	return d.DialContext(ctx, network, address)
}

// allowsHost reports whether the host of a "host:port" is on the list by name.
func (g *Guard) allowsHost(hostPort string) bool {
	host, port, err := net.SplitHostPort(hostPort)
	if err != nil {
		return false
	}
	host = canonical(host)
	return g.hosts[host] || g.hosts[net.JoinHostPort(host, port)]
}

// check refuses an address that is about to be dialled.
func (g *Guard) check(address string) error {
	s, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %q is no address", ErrRefused, address)
	}
	if g.permits(s) {
		return nil
	}
	return refusal("the target") // does not reveal what a name resolves to
}

func (g *Guard) permits(s netip.AddrPort) bool {
	s = netip.AddrPortFrom(s.Addr().Unmap().WithZone(""), s.Port())
	return g.sockets[s] || g.public.SafeAddr(s.Addr()) == nil
}

func refusal(host string) error {
	return fmt.Errorf("%w: %s is private, loopback, link-local or reserved: allow it with --webhook-allow", ErrRefused, host)
}
