package testkit

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"sync"
)

// PrivateNames are names that [ServeNames] resolves to addresses of this machine,
// private networks and metadata services.
var PrivateNames = map[string][]string{
	"loop.test":      {"127.0.0.1"},
	"loop6.test":     {"::1"},
	"many.test":      {"10.0.0.1", "192.168.1.1", "fd00::1"},
	"mapped.test":    {"::ffff:127.0.0.1"},
	"embedded.test":  {"64:ff9b::a00:1", "2002:a00:1::", "2001:0:a00:1::"},
	"meta.test":      {"169.254.169.254"},
	"meta6.test":     {"fd00:ec2::254"},
	"zero.test":      {"0.0.0.0", "::"},
	"allowed.test":   {"127.0.0.1"},
	"hooks.internal": {"10.9.9.9"},
}

// otherNames have public addresses, some of them private ones in addition.
var otherNames = map[string][]string{
	"mixed.test":  {"10.0.0.1", PublicAddress, "127.0.0.1", "fd00::1", "2606:2800:220:1::1"},
	"public.test": {PublicAddress},
}

// PublicAddress is the address of public.test.
const PublicAddress = "93.184.216.34"

// Names is a name server. It is safe for concurrent use.
type Names struct {
	conn    net.PacketConn
	mu      sync.Mutex
	answers map[string][]string // of names whose address changes
	asked   map[string]int
}

// ServeNames gives the process its own name server until it ends, so that no test
// depends on the network's. The server knows [PrivateNames] and a few more. It is
// for TestMain. It panics if it cannot listen.
func ServeNames() *Names {
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	n := &Names{conn: conn, answers: map[string][]string{}, asked: map[string]int{}}
	go n.serve()
	net.DefaultResolver = &net.Resolver{
		PreferGo: true,
		Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "udp", n.Address())
		},
	}
	return n
}

// Address returns where the name server listens, as host:port.
func (n *Names) Address() string { return n.conn.LocalAddr().String() }

// Rebind answers the nth question for the IPv4 address of a name with the nth
// answer, and later ones with the last.
func (n *Names) Rebind(name string, answers ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.answers[name], n.asked[name] = answers, 0
}

// Asked returns how often the IPv4 address of a name was requested since
// [Names.Rebind].
func (n *Names) Asked(name string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.asked[name]
}

// addresses returns the answer to a question for the IPv4 (kind 1) or IPv6
// addresses of a name.
func (n *Names) addresses(name string, kind byte) []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	list, changing := n.answers[name]
	if !changing || kind != 1 {
		return append(PrivateNames[name], otherNames[name]...)
	}
	i := n.asked[name]
	n.asked[name]++
	return list[min(i, len(list)-1):][:1]
}

func (n *Names) serve() {
	buf := make([]byte, 1500)
	for {
		size, from, err := n.conn.ReadFrom(buf)
		if err != nil {
			return
		}
		if reply := n.answer(buf[:size]); reply != nil {
			_, _ = n.conn.WriteTo(reply, from)
		}
	}
}

// answer returns the response to a DNS query, with a TTL of zero.
func (n *Names) answer(query []byte) []byte {
	if len(query) < 17 {
		return nil
	}
	var labels []string
	i := 12
	for query[i] != 0 {
		length := int(query[i])
		labels = append(labels, string(query[i+1:i+1+length]))
		i += 1 + length
	}
	kind := query[i+2] // 1: A, 28: AAAA
	question := query[12 : i+5]
	var records []byte
	count := byte(0)
	for _, text := range n.addresses(strings.ToLower(strings.Join(labels, ".")), kind) {
		a := netip.MustParseAddr(text)
		if (kind == 1) != a.Is4() || kind != 1 && kind != 28 {
			continue
		}
		b := a.AsSlice()
		records = append(records, 0xc0, 12, 0, kind, 0, 1, 0, 0, 0, 0, 0, byte(len(b)))
		records = append(records, b...)
		count++
	}
	reply := append([]byte{query[0], query[1], 0x84, 0, 0, 1, 0, count, 0, 0, 0, 0}, question...)
	return append(reply, records...)
}
