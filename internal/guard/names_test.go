package guard_test

import (
	"context"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
)

// TestMain gives the test binary a name server of its own, so that no test
// depends on, or asks, the network's.
func TestMain(m *testing.M) {
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go serveNames(conn)
	net.DefaultResolver = &net.Resolver{
		PreferGo: true,
		Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "udp", conn.LocalAddr().String())
		},
	}
	os.Exit(m.Run())
}

// names are what the name server knows.
var names = map[string][]string{
	"loop.test":      {"127.0.0.1"},
	"loop6.test":     {"::1"},
	"many.test":      {"10.0.0.1", "192.168.1.1", "fd00::1"},
	"mapped.test":    {"::ffff:127.0.0.1"},
	"embedded.test":  {"64:ff9b::a00:1", "2002:a00:1::", "2001:0:a00:1::"},
	"meta.test":      {"169.254.169.254"},
	"meta6.test":     {"fd00:ec2::254"},
	"zero.test":      {"0.0.0.0", "::"},
	"mixed.test":     {"10.0.0.1", "93.184.216.34", "127.0.0.1", "fd00::1", "2606:2800:220:1::1"},
	"public.test":    {"93.184.216.34"},
	"allowed.test":   {"127.0.0.1"},
	"hooks.internal": {"10.9.9.9"},
}

// rebinds are the names whose address changes.
var rebinds = struct {
	sync.Mutex
	answers map[string][]string
	asked   map[string]int
}{answers: map[string][]string{}, asked: map[string]int{}}

// rebind answers the nth question for a name with the nth answer, and all
// later ones with the last.
func rebind(name string, answers ...string) {
	rebinds.Lock()
	defer rebinds.Unlock()
	rebinds.answers[name], rebinds.asked[name] = answers, 0
}

// addresses are the answer to a question for the IPv4 (kind 1) or IPv6
// addresses of a name.
func addresses(name string, kind byte) []string {
	rebinds.Lock()
	defer rebinds.Unlock()
	list, changing := rebinds.answers[name]
	if !changing || kind != 1 {
		return names[name]
	}
	n := rebinds.asked[name]
	rebinds.asked[name]++
	return list[min(n, len(list)-1):][:1]
}

// asked is how often the address of a name was asked for.
func asked(name string) int {
	rebinds.Lock()
	defer rebinds.Unlock()
	return rebinds.asked[name]
}

func serveNames(conn net.PacketConn) {
	buf := make([]byte, 1500)
	for {
		n, from, err := conn.ReadFrom(buf)
		if err != nil {
			return
		}
		if reply := answer(buf[:n]); reply != nil {
			_, _ = conn.WriteTo(reply, from)
		}
	}
}

// answer replies to a DNS query with the addresses of its name and kind, to be
// kept for no time.
func answer(query []byte) []byte {
	if len(query) < 17 {
		return nil
	}
	var labels []string
	i := 12
	for query[i] != 0 {
		n := int(query[i])
		labels = append(labels, string(query[i+1:i+1+n]))
		i += 1 + n
	}
	kind := query[i+2] // 1: A, 28: AAAA
	question := query[12 : i+5]
	var records []byte
	count := byte(0)
	for _, text := range addresses(strings.ToLower(strings.Join(labels, ".")), kind) {
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
