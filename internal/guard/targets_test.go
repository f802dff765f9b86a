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
	"github.com/trunklinehq/trunkline/internal/testkit"
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

// recorded returns a guard over a recorder.
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

func TestPrivate(t *testing.T) {
	t.Parallel()
	for _, url := range testkit.PrivateURLs {
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

// A name that changes its address between two lookups gains nothing: a connection
// makes one lookup, and its result is checked and dialled.
func TestRebinding(t *testing.T) {
	t.Parallel()
	var reached atomic.Bool
	inner := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Store(true) }))
	t.Cleanup(inner.Close)
	_, port, err := net.SplitHostPort(strings.TrimPrefix(inner.URL, "http://"))
	require.NoError(t, err)
	url := "http://rebind.test:" + port + "/"

	names.Rebind("rebind.test", "93.184.216.34", "127.0.0.1", "169.254.169.254", "93.184.216.34", "10.0.0.1")
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
		require.Equal(t, n+1, names.Asked("rebind.test"), "one look for one connection")
	}
	require.Equal(t, []string{"93.184.216.34:" + port, "93.184.216.34:" + port}, d.all())
	require.False(t, reached.Load())

	// A program that looks first and then asks for the same name.
	names.Rebind("flip.test", "93.184.216.34", "127.0.0.1")
	addrs, err := net.DefaultResolver.LookupHost(t.Context(), "flip.test")
	require.NoError(t, err)
	require.Equal(t, []string{"93.184.216.34"}, addrs)
	g, d = recorded(t)
	require.ErrorIs(t, get(t, g, "http://flip.test:"+port), guard.ErrRefused)
	require.Empty(t, d.all())
	require.False(t, reached.Load())
}
