package guard_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/guard"
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
	"loop.test":    {"127.0.0.1"},
	"loop6.test":   {"::1"},
	"many.test":    {"10.0.0.1", "192.168.1.1", "fd00::1"},
	"mapped.test":  {"::ffff:127.0.0.1"},
	"meta.test":    {"169.254.169.254"},
	"zero.test":    {"0.0.0.0"},
	"allowed.test": {"127.0.0.1"},
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

// answer replies to a DNS query with the addresses of its name and kind.
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
	for _, text := range names[strings.Join(labels, ".")] {
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

// dials records the addresses to which a connection was really tried.
type dials struct {
	mu    sync.Mutex
	tried []string
}

func (d *dials) trace(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		ConnectDone: func(_, addr string, err error) {
			if err != nil && strings.Contains(err.Error(), guard.ErrRefused.Error()) {
				return
			}
			d.mu.Lock()
			defer d.mu.Unlock()
			d.tried = append(d.tried, addr)
		},
	})
}

func TestTargets(t *testing.T) {
	t.Parallel()
	const refused, early = "refused at the connection", "refused at once"
	for _, c := range []struct {
		url   string
		allow string
		want  string // "": not checked further than CheckURL, because it must not be dialled
	}{
		{"http://127.0.0.1/", "", early},
		{"http://127.0.0.1:8080/x", "", early},
		{"http://127.1/", "", early},
		{"http://127.0.1/", "", early},
		{"http://2130706433/", "", early},
		{"http://0x7f000001/", "", early},
		{"http://0x7f.0.0.1/", "", early},
		{"http://0X7F.1/", "", early},
		{"http://017700000001/", "", early},
		{"http://0177.0.0.1/", "", early},
		{"http://0177.0x0.0.01/", "", early},
		{"http://0/", "", early},
		{"http://0x/", "", early},
		{"http://0.0.0.0/", "", early},
		{"http://127.255.255.254/", "", early},
		{"http://127.0.0.1./", "", early},
		{"http://127。0。0。1/", "", early},
		{"http://１２７.0.0.1/", "", early},
		{"http://[::1]/", "", early},
		{"http://[::]/", "", early},
		{"http://[0:0:0:0:0:0:0:1]/", "", early},
		{"http://[::ffff:127.0.0.1]/", "", early},
		{"http://[::ffff:7f00:1]/", "", early},
		{"http://[::ffff:10.0.0.1]/", "", early},
		{"http://[::127.0.0.1]/", "", early},
		{"http://[64:ff9b::7f00:1]/", "", early},
		{"http://[2002:7f00:1::]/", "", early},
		{"http://[fe80::1%25eth0]/", "", early},
		{"http://[fc00::1]/", "", early},
		{"http://[fd00:ec2::254]/", "", early},
		{"http://[ff02::1]/", "", early},
		{"http://[2001:db8::1]/", "", early},
		{"http://10.0.0.1/", "", early},
		{"http://10.255.1.2:9/", "", early},
		{"http://172.16.0.1/", "", early},
		{"http://172.31.255.255/", "", early},
		{"http://192.168.1.1/", "", early},
		{"http://100.64.0.1/", "", early},
		{"http://100.100.100.200/latest/meta-data", "", early},
		{"http://169.254.169.254/latest/meta-data", "", early},
		{"http://0xa9fea9fe/", "", early},
		{"http://168.63.129.16/machine", "", early},
		{"http://192.0.0.192/opc", "", early},
		{"http://224.0.0.1/", "", early},
		{"http://240.0.0.1/", "", early},
		{"http://255.255.255.255/", "", early},
		{"http://localhost/", "", early},
		{"http://LOCALHOST:81/", "", early},
		{"http://localhost./", "", early},
		{"http://api.localhost/", "", early},
		{"http://metadata.google.internal/", "", early},
		{"https://10.0.0.1/", "192.168.0.0/16", early},
		{"http://10.0.0.1:81/", "10.0.0.1:80", early},

		{"http://loop.test/", "", refused},
		{"http://loop6.test/", "", refused},
		{"http://many.test/", "", refused},
		{"http://meta.test/", "", refused},
		{"http://mapped.test/", "", refused},
		{"http://zero.test/", "", refused},
		{"http://loop.test/", "10.0.0.0/8", refused},
		{"http://loop.test/", "allowed.test", refused},

		{"https://93.184.216.34/", "", ""},
		{"https://93.184.216.34:8443/", "", ""},
		{"https://[2606:2800:220:1::1]/", "", ""},
		{"https://hooks.example.com/in?x=1", "", ""},
		{"https://172.32.0.1/", "", ""},
		{"https://1.2.3.4.example/", "", ""},
		{"https://localhost.example/", "", ""},
		{"http://10.1.2.3/", "10.0.0.0/8", ""},
		{"http://10.1.2.3/", " 10.1.2.3 ", ""},
		{"http://10.1.2.3:80/", "10.1.2.3:80", ""},
		{"http://hooks.internal/", "hooks.internal", ""},
	} {
		t.Run(c.url+" "+c.allow, func(t *testing.T) {
			t.Parallel()
			g, err := guard.New([]string{c.allow})
			require.NoError(t, err)
			if err = g.CheckURL(c.url); c.want != early {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, guard.ErrRefused)
				require.ErrorContains(t, err, "--webhook-allow")
			}
			if c.want == "" {
				return
			}
			var d dials
			req, err := http.NewRequestWithContext(d.trace(t.Context()), http.MethodPost, c.url, nil)
			require.NoError(t, err)
			_, err = g.Client().Do(req) //nolint:bodyclose // it must fail
			require.Error(t, err)
			require.Empty(t, d.tried)
			if c.want == refused {
				require.ErrorIs(t, err, guard.ErrRefused)
				require.ErrorContains(t, err, "--webhook-allow")
			}
		})
	}
}

func TestMalformed(t *testing.T) {
	t.Parallel()
	g, err := guard.New(nil)
	require.NoError(t, err)
	for _, url := range []string{
		"", "/relative", "ftp://example.com/", "file:///etc/passwd", "http://", "http:///x", "https://:443/",
		"http://example.com:0/", "http://example.com:99999/", "http://[::1", "gopher://127.0.0.1/", "//example.com/", "http://a b/",
	} {
		err := g.CheckURL(url)
		require.Error(t, err, url)
		require.NotErrorIs(t, err, guard.ErrRefused, url)
	}
	for _, entry := range []string{"10.0.0.0/33", "http://x", "a b", "host:", "host:99999", "host:x", ":80", "x/8"} {
		_, err := guard.New([]string{entry})
		require.ErrorContains(t, err, "--webhook-allow", entry)
	}
}

func TestAllowed(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) }))
	t.Cleanup(server.Close)
	port := server.URL[strings.LastIndex(server.URL, ":"):]
	for _, c := range []struct{ allow, host string }{
		{"127.0.0.0/8", "127.0.0.1"},
		{"127.0.0.1", "127.0.0.1"},
		{"127.0.0.1" + port, "127.0.0.1"},
		{"127.0.0.1" + port, "localhost"},
		{"127.0.0.0/8", "loop.test"},
		{"127.0.0.1" + port, "loop.test"},
		{"allowed.test", "allowed.test"},
		{"ALLOWED.test." + port, "allowed.test"},
		{"localhost", "localhost"},
	} {
		g, err := guard.New([]string{c.allow})
		require.NoError(t, err)
		require.NoError(t, g.CheckURL("http://"+c.host+port), c)
		res, err := g.Client().Get("http://" + c.host + port)
		require.NoError(t, err, c)
		require.NoError(t, res.Body.Close())
		require.Equal(t, 204, res.StatusCode)
	}
}

func TestClient(t *testing.T) {
	t.Parallel()
	g, err := guard.New([]string{"127.0.0.1"})
	require.NoError(t, err)

	t.Run("redirect is not followed", func(t *testing.T) {
		t.Parallel()
		s := httptest.NewServer(http.RedirectHandler("http://169.254.169.254/", http.StatusFound))
		t.Cleanup(s.Close)
		res, err := g.Client().Get(s.URL)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, http.StatusFound, res.StatusCode)
	})
	t.Run("certificate is verified", func(t *testing.T) {
		t.Parallel()
		s := httptest.NewTLSServer(http.NotFoundHandler())
		s.Config.ErrorLog = nil
		t.Cleanup(s.Close)
		_, err := g.Client().Get(s.URL) //nolint:bodyclose // it must fail
		require.ErrorContains(t, err, "certificate")
	})
	t.Run("connection is reused", func(t *testing.T) {
		t.Parallel()
		s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		t.Cleanup(s.Close)
		var d dials
		client := g.Client()
		for range 5 {
			req, err := http.NewRequestWithContext(d.trace(t.Context()), http.MethodGet, s.URL, nil)
			require.NoError(t, err)
			res, err := client.Do(req)
			require.NoError(t, err)
			require.NoError(t, res.Body.Close())
		}
		require.Len(t, d.tried, 1)
	})
	t.Run("context ends a hanging request", func(t *testing.T) {
		t.Parallel()
		stop := make(chan struct{})
		s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-stop }))
		t.Cleanup(func() { close(stop); s.Close() })
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL, nil)
		require.NoError(t, err)
		_, err = g.Client().Do(req) //nolint:bodyclose // it must fail
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

func TestProxyIsIgnored(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	g, err := guard.New(nil)
	require.NoError(t, err)
	var d dials
	req, err := http.NewRequestWithContext(d.trace(t.Context()), http.MethodGet, "http://meta.test/", nil)
	require.NoError(t, err)
	_, err = g.Client().Do(req) //nolint:bodyclose // it must fail
	require.ErrorIs(t, err, guard.ErrRefused)
	require.Empty(t, d.tried)
}

func FuzzCheckURL(f *testing.F) {
	for _, s := range []string{"http://127.1/", "http://[::ffff:7f00:1]:8/", "https://１２７.0x.1", "http://%31/"} {
		f.Add(s)
	}
	g, err := guard.New(nil)
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, s string) {
		if g.CheckURL(s) != nil {
			return
		}
		req, err := http.NewRequest(http.MethodGet, s, nil)
		require.NoError(t, err)
		if a, err := netip.ParseAddr(req.URL.Hostname()); err == nil {
			require.True(t, a.IsGlobalUnicast() && !a.IsPrivate() && !a.IsLoopback(), s)
		}
	})
}
