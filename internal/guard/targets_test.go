package guard_test

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/guard"
)

// dials records, below a guard, what would be dialled. Only loopback is.
type dials struct {
	mu    sync.Mutex
	tried []string
}

var errWall = errors.New("nothing but loopback is dialled in a test")

func (d *dials) record(address string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tried = append(d.tried, address)
	if !netip.MustParseAddrPort(address).Addr().Unmap().IsLoopback() {
		return errWall
	}
	return nil
}

func (d *dials) all() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]string(nil), d.tried...)
}

// recorded is a guard over a recorder.
func recorded(t *testing.T, allow ...string) (*guard.Guard, *dials) {
	t.Helper()
	g, err := guard.New(allow)
	require.NoError(t, err)
	d := &dials{}
	g.Below(d.record)
	return g, d
}

// get requests a URL and returns the error. A response is thrown away.
func get(t *testing.T, g *guard.Guard, url string) error {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, nil)
	require.NoError(t, err)
	res, err := g.Client().Do(req)
	if err == nil {
		require.NoError(t, res.Body.Close())
	}
	return err
}

// private are URLs that must not be registered; nothing is dialled for them
// either, when they are requested all the same.
var private = []string{
	// This machine, as any resolver might read it.
	"http://127.0.0.1/", "http://127.0.0.1:8080/x", "http://127.255.255.254/", "http://127.0.0.1./", "http://127.1/", "http://127.0.1/",
	"http://2130706433/", "http://0x7f000001/", "http://0x7f.0.0.1/", "http://0X7F.1/", "http://017700000001/", "http://0177.0.0.1/",
	"http://0177.0x0.0.01/", "http://00000000177.0.0.1/", "http://0/", "http://0x/", "http://0.0.0.0/", "http://0.1.2.3/",
	"http://127。0。0。1/", "http://127．0｡0．1/", "http://１２７.0.0.1/", "http://①②⑦.0.0.①/", "http://𝟙𝟚𝟟.0.0.1/",
	"http://localhost/", "http://LOCALHOST:81/", "http://localhost./", "http://api.localhost/", "http://ⓛocalhost/", "http://localhost.localdomain/",
	"http://ip6-localhost/", "http://ip6-loopback/",
	"http://[::1]/", "http://[::]/", "http://[0:0:0:0:0:0:0:1]/", "http://[::1%25lo]/",
	"http://public.test@127.0.0.1/", "http://public.test:80@127.0.0.1:80/", "http://127.0.0.1#@public.test/", "http://127.0.0.1?@public.test/",
	// An IPv4 address inside an IPv6 one: mapped, compatible, translated, NAT64, 6to4, Teredo.
	"http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/", "http://[::ffff:10.0.0.1]/", "http://[::ffff:a9fe:a9fe]/", "http://[::127.0.0.1]/",
	"http://[::ffff:0:127.0.0.1]/", "http://[64:ff9b::7f00:1]/", "http://[64:ff9b::169.254.169.254]/", "http://[64:ff9b:1::a00:1]/",
	"http://[2002:7f00:1::]/", "http://[2002:a9fe:a9fe::1]/", "http://[2001:0:a00:1::]/", "http://[2001::1]/",
	// Private, shared, link-local, site-local.
	"http://10.0.0.1/", "http://10.255.1.2:9/", "http://172.16.0.1/", "http://172.31.255.255/", "http://192.168.1.1/", "http://3232235777/",
	"http://100.64.0.1/", "http://100.127.255.255/", "http://169.254.1.1/",
	"http://[fc00::1]/", "http://[fd12:3456::1]/", "http://[fe80::1]/", "http://[fe80::1%25eth0]/", "http://[fec0::1]/",
	// Metadata services.
	"http://169.254.169.254/latest/meta-data", "http://169.254.170.2/v2", "http://0xa9fea9fe/", "http://0xa9.0xfe.0xa9.0xfe/", "http://2852039166/",
	"http://0251.0376.0251.0376/", "http://[fd00:ec2::254]/", "http://[fd20:ce::254]/", "http://100.100.100.200/latest/meta-data", "http://192.0.0.192/opc",
	"http://168.63.129.16/machine", "http://[::ffff:168.63.129.16]/", "http://metadata.google.internal/", "http://METADATA.google.internal./",
	"http://instance-data.ec2.internal/",
	// Multicast, broadcast, reserved, for documentation and measurements.
	"http://224.0.0.1/", "http://239.255.255.250:1900/", "http://240.0.0.1/", "http://255.255.255.255/", "http://4294967295/",
	"http://192.0.0.170/", "http://192.0.2.1/", "http://198.18.0.1/", "http://198.51.100.1/", "http://203.0.113.1/", "http://192.88.99.1/",
	"http://[ff02::1]/", "http://[ff0e::1]/", "http://[100::1]/", "http://[2001:db8::1]/", "http://[2001:20::1]/", "http://[3fff::1]/", "http://[5f00::1]/",
}

func TestPrivate(t *testing.T) {
	t.Parallel()
	for _, url := range private {
		t.Run(url, func(t *testing.T) {
			t.Parallel()
			g, d := recorded(t)
			err := g.CheckURL(url)
			require.ErrorIs(t, err, guard.ErrRefused)
			require.ErrorContains(t, err, "--webhook-allow")
			require.Error(t, get(t, g, url))
			require.Empty(t, d.all())
		})
	}
}

// Names are refused by the address that they have when they are dialled.
func TestTargets(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		url, allow string
		want       []string // what is dialled; nil: the request is refused
	}{
		{"http://loop.test/", "", nil},
		{"http://LOOP.test./", "", nil},
		{"http://loop6.test/", "", nil},
		{"http://many.test/", "", nil},
		{"http://mapped.test/", "", nil},
		{"http://embedded.test/", "", nil},
		{"http://meta.test/", "", nil},
		{"http://meta6.test/", "", nil},
		{"http://zero.test/", "", nil},
		{"http://hooks.internal/", "", nil},
		{"http://loop.test/", "10.0.0.0/8", nil},
		{"http://loop.test/", "allowed.test", nil},
		{"http://loop.test:81/", "127.0.0.1:80", nil},
		{"http://127.0.0.1@loop.test/", "", nil},

		{"https://93.184.216.34/", "", []string{"93.184.216.34:443"}},
		{"http://93.184.216.34:8443/", "", []string{"93.184.216.34:8443"}},
		{"https://[2606:2800:220:1::1]/", "", []string{"[2606:2800:220:1::1]:443"}},
		{"https://172.32.0.1/", "", []string{"172.32.0.1:443"}},
		{"http://172.15.255.255/", "", []string{"172.15.255.255:80"}},
		{"http://11.0.0.0/", "", []string{"11.0.0.0:80"}},
		{"http://100.128.0.1/", "", []string{"100.128.0.1:80"}},
		{"http://169.253.255.255/", "", []string{"169.253.255.255:80"}},
		{"http://223.255.255.255/", "", []string{"223.255.255.255:80"}},
		{"https://public.test/in?x=127.0.0.1", "", []string{"93.184.216.34:443"}},
		{"http://127.0.0.1@public.test/", "", []string{"93.184.216.34:80"}},
		{"http://mixed.test/", "", []string{"93.184.216.34:80", "[2606:2800:220:1::1]:80"}},

		{"http://10.1.2.3/", "10.0.0.0/8", []string{"10.1.2.3:80"}},
		{"http://10.1.2.3/", " 10.1.2.3 ", []string{"10.1.2.3:80"}},
		{"http://10.1.2.3:80/", "10.1.2.3:80", []string{"10.1.2.3:80"}},
		{"http://[::ffff:10.1.2.3]/", "10.0.0.0/8", []string{"10.1.2.3:80"}},
		{"http://[fd00::7]/", "fd00::/8", []string{"[fd00::7]:80"}},
		{"http://many.test/", "192.168.0.0/16", []string{"192.168.1.1:80"}},
		{"http://hooks.internal/", "hooks.internal", []string{"10.9.9.9:80"}},
		{"http://hooks.internal:80/", "hooks.internal:80", []string{"10.9.9.9:80"}},
	} {
		t.Run(c.url+" "+c.allow, func(t *testing.T) {
			t.Parallel()
			g, d := recorded(t, c.allow)
			require.NoError(t, g.CheckURL(c.url))
			err := get(t, g, c.url)
			require.ElementsMatch(t, c.want, d.all())
			if c.want == nil {
				require.ErrorIs(t, err, guard.ErrRefused)
				require.ErrorContains(t, err, "--webhook-allow")
			} else {
				require.Error(t, err) // of the first address that was tried or refused
			}
		})
	}
	for _, c := range []struct{ url, allow string }{
		{"https://10.0.0.1/", "192.168.0.0/16"},
		{"http://10.0.0.1:81/", "10.0.0.1:80"},
		{"http://[::1]/", "127.0.0.0/8"},
	} {
		g, d := recorded(t, c.allow)
		require.ErrorIs(t, g.CheckURL(c.url), guard.ErrRefused)
		require.ErrorIs(t, get(t, g, c.url), guard.ErrRefused)
		require.Empty(t, d.all())
	}
}

// A name that changes its address between two looks gains nothing: there is
// one look for a connection, and what it gave is what is checked and dialled.
func TestRebinding(t *testing.T) {
	t.Parallel()
	var reached atomic.Bool
	inner := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Store(true) }))
	t.Cleanup(inner.Close)
	_, port, err := net.SplitHostPort(strings.TrimPrefix(inner.URL, "http://"))
	require.NoError(t, err)
	url := "http://rebind.test:" + port + "/"

	rebind("rebind.test", "93.184.216.34", "127.0.0.1", "169.254.169.254", "93.184.216.34", "10.0.0.1")
	g, d := recorded(t)
	client := g.Client()
	for n, public := range []bool{true, false, false, true, false} {
		require.NoError(t, g.CheckURL(url), "it does not look")
		_, err := client.Get(url) //nolint:bodyclose // it must fail
		if public {
			require.ErrorIs(t, err, errWall)
		} else {
			require.ErrorIs(t, err, guard.ErrRefused)
		}
		require.Equal(t, n+1, asked("rebind.test"), "one look for one connection")
	}
	require.Equal(t, []string{"93.184.216.34:" + port, "93.184.216.34:" + port}, d.all())
	require.False(t, reached.Load())

	// A program that looks first and then asks for the same name.
	rebind("flip.test", "93.184.216.34", "127.0.0.1")
	addrs, err := net.DefaultResolver.LookupHost(t.Context(), "flip.test")
	require.NoError(t, err)
	require.Equal(t, []string{"93.184.216.34"}, addrs)
	g, d = recorded(t)
	require.ErrorIs(t, get(t, g, "http://flip.test:"+port), guard.ErrRefused)
	require.Empty(t, d.all())
	require.False(t, reached.Load())
}
