package server_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/server"
)

func metrics(t *testing.T, f fixture) string {
	t.Helper()
	w := httptest.NewRecorder()
	f.MetricsHandler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
	require.Equal(t, 200, w.Code)
	return w.Body.String()
}

// running is a server that listens.
type running struct {
	fixture
	addr string
	stop context.CancelFunc
	done chan error
}

// run serves a fixture until it is told to stop, or the test ends.
func run(t *testing.T, f fixture, l server.Listeners) running {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	r := running{f, "", stop, make(chan error, 1)}
	l.Main = listener(t)
	r.addr = l.Main.Addr().String()
	ready := make(chan struct{})
	l.Ready = func() { close(ready) }
	over := make(chan struct{})
	go func() {
		defer close(over)
		r.done <- f.Serve(ctx, l)
	}()
	t.Cleanup(func() {
		stop()
		<-over
	})
	<-ready
	return r
}

func listener(t *testing.T) net.Listener {
	t.Helper()
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	return ln
}

// dial sends the beginning of a request.
func dial(t *testing.T, addr, text string) net.Conn {
	t.Helper()
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	require.NoError(t, c.SetDeadline(time.Now().Add(eventually)))
	_, err = io.WriteString(c, text)
	require.NoError(t, err)
	return c
}

// accepted waits until the connections made so far are in the server's hands:
// they are taken in their order.
func (r running) accepted(t *testing.T) {
	t.Helper()
	resp, err := http.Get("http://" + r.addr + "/probe")
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
}

func post(path string, length int) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", path, length)
}

// TestDrain stops a server while a request is in its hands.
func TestDrain(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.AddTestRoutes()
	r := run(t, f, server.Listeners{})
	body := `{"text":"in hand"}`
	c := dial(t, r.addr, post("/test/echo", len(body))+body[:5])
	dial(t, r.addr, "") // idle
	r.accepted(t)
	r.stop()
	require.Eventually(t, func() bool { // no further connection is taken
		c, err := net.DialTimeout("tcp", r.addr, time.Second)
		if err == nil {
			_ = c.Close()
		}
		return err != nil
	}, eventually, tick)
	f.do(t, "GET", "/probe", "").problem(503, "unavailable")
	select {
	case err := <-r.done:
		require.Fail(t, "stopped before the request was finished", "%v", err)
	default:
	}
	_, err := io.WriteString(c, body[5:])
	require.NoError(t, err)
	answer, err := io.ReadAll(c)
	require.NoError(t, err)
	require.Contains(t, string(answer), "200 OK")
	require.Contains(t, string(answer), "in hand")
	require.NoError(t, <-r.done)
	require.Contains(t, f.log.String(), `"msg":"drained"`)
}

// TestDrainCutsOff stops while a request never comes to its end: another, which
// ends once the drain has begun, is answered.
func TestDrainCutsOff(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.AddTestRoutes()
	r := run(t, f, server.Listeners{})
	c := dial(t, r.addr, "GET /test/drain HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	dial(t, r.addr, post("/test/echo", 100)+"{")
	r.accepted(t)
	r.stop()
	require.NoError(t, <-r.done)
	require.Contains(t, f.log.String(), `"msg":"drained"`)
	answer, err := io.ReadAll(c)
	require.NoError(t, err)
	require.Contains(t, string(answer), `"whole":true`)
}

// TestSlowBody sends a body that stops, one that trickles, and one for a
// route that does not read it.
func TestSlowBody(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.AddTestRoutes()
	r := run(t, f, server.Listeners{})
	t.Run("read", func(t *testing.T) {
		t.Parallel()
		c := dial(t, r.addr, post("/test/echo", 100)+`{"te`)
		answer, err := io.ReadAll(c)
		require.NoError(t, err)
		require.Contains(t, string(answer), "408 Request Timeout")
		require.Contains(t, string(answer), `"code":"request_timeout"`)
	})
	t.Run("not read", func(t *testing.T) {
		t.Parallel()
		c := dial(t, r.addr, strings.Replace(post("/user/me", 100), "POST", "GET", 1)+`{"te`)
		answer, err := io.ReadAll(c)
		require.NoError(t, err)
		require.Contains(t, string(answer), "401 Unauthorized")
	})
	t.Run("slow handler", func(t *testing.T) {
		t.Parallel()
		body := `{"text":"a"}`
		answer, err := io.ReadAll(dial(t, r.addr, post("/test/wait", len(body))+body))
		require.NoError(t, err)
		require.Contains(t, string(answer), `"whole":true`, "the body's deadline must not end the handler")
	})
}

func TestServeFails(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	ln := listener(t)
	require.NoError(t, ln.Close())
	require.ErrorContains(t, f.Serve(t.Context(), server.Listeners{Main: ln}), "closed")
	taken := listener(t)
	defer func() { _ = taken.Close() }()
	require.ErrorContains(t, f.ListenAndServe(t.Context(), taken.Addr().String()), "address already in use")
}

func TestMetricsListener(t *testing.T) {
	t.Parallel()
	ln := listener(t)
	r := run(t, setup(t, nil), server.Listeners{Metrics: ln})
	resp, err := http.Get("http://" + ln.Addr().String() + "/metrics")
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, 200, resp.StatusCode)
	r.stop()
	require.NoError(t, <-r.done)
}

func TestTLSReload(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	testkit.Certificate(t, dir, 1)
	log := &logBuffer{}
	cert, err := server.LoadCertificate(filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"),
		slog.New(slog.NewTextHandler(log, nil)))
	require.NoError(t, err)
	r := run(t, setup(t, nil), server.Listeners{Certificate: cert})
	serial := func() int64 {
		d := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}}}
		c, err := d.DialContext(t.Context(), "tcp", r.addr)
		require.NoError(t, err)
		defer func() { _ = c.Close() }()
		state := c.(*tls.Conn).ConnectionState()
		require.Equal(t, "h2", state.NegotiatedProtocol)
		return state.PeerCertificates[0].SerialNumber.Int64()
	}
	require.EqualValues(t, 1, serial())

	require.NoError(t, os.WriteFile(filepath.Join(dir, "key.pem"), []byte("half a file"), 0o600))
	require.Eventually(t, func() bool { return serial() == 1 && strings.Contains(log.String(), "level=WARN") }, eventually, tick,
		"what cannot be read leaves the last one in use")
	testkit.Certificate(t, dir, 2)
	require.Eventually(t, func() bool { return serial() == 2 }, eventually, tick)
}

func TestLoadCertificateFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	_, err := server.LoadCertificate(cert, key, nil)
	require.ErrorContains(t, err, "cert.pem")
	testkit.Certificate(t, dir, 1)
	require.NoError(t, os.WriteFile(key, []byte("x"), 0o600))
	_, err = server.LoadCertificate(cert, key, nil)
	require.ErrorContains(t, err, "reading the TLS certificate")
}

func TestTrustedProxies(t *testing.T) {
	t.Parallel()
	f := setup(t, func(c *server.Config) {
		c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	})
	f.AddTestRoutes()
	for name, c := range map[string]struct {
		peer      string
		forwarded []string
		want      string
	}{
		"no proxy":             {"203.0.113.9:1", nil, "203.0.113.9"},
		"not trusted":          {"203.0.113.9:1", []string{"198.51.100.1"}, "203.0.113.9"},
		"trusted":              {"10.0.0.1:1", []string{"198.51.100.1"}, "198.51.100.1"},
		"trusted over IPv6":    {"[fd00::1]:1", []string{"2001:db8::7"}, "2001:db8::7"},
		"mapped":               {"[::ffff:10.0.0.1]:1", []string{"198.51.100.1"}, "198.51.100.1"},
		"with a port":          {"10.0.0.1:1", []string{"198.51.100.1:443"}, "198.51.100.1"},
		"forged before it":     {"10.0.0.1:1", []string{"1.1.1.1, 198.51.100.1"}, "198.51.100.1"},
		"forged in a line":     {"10.0.0.1:1", []string{"1.1.1.1", "198.51.100.1"}, "198.51.100.1"},
		"two proxies":          {"10.0.0.1:1", []string{"198.51.100.1, 10.0.0.2"}, "198.51.100.1"},
		"only proxies":         {"10.0.0.1:1", []string{"10.0.0.3, 10.0.0.2"}, "10.0.0.3"},
		"trusted says nothing": {"10.0.0.1:1", nil, "10.0.0.1"},
		"trusted says words":   {"10.0.0.1:1", []string{"198.51.100.1, unknown"}, "10.0.0.1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req := httptest.NewRequestWithContext(t.Context(), "GET", "/test/client", nil)
			req.RemoteAddr = c.peer
			for _, v := range c.forwarded {
				req.Header.Add("X-Forwarded-For", v)
			}
			w := httptest.NewRecorder()
			f.ServeHTTP(w, req)
			require.Contains(t, w.Body.String(), `"`+c.want+`"`)
		})
	}
}

func TestSecretIsNeverPrinted(t *testing.T) {
	t.Parallel()
	cfg := server.Config{Secrets: []server.Secret{secret}}
	var log logBuffer
	slog.New(slog.NewJSONHandler(&log, nil)).InfoContext(t.Context(), "config", slog.Any("secret", cfg.Secrets[0]), slog.Any("all", cfg.Secrets))
	for _, s := range []string{fmt.Sprintf("%v %+v %#v %q %x", cfg, cfg, cfg, cfg.Secrets, cfg.Secrets[0]), log.String()} {
		require.Contains(t, s, "REDACTED")
		require.NotContains(t, s, secret[:10])
		require.NotContains(t, s, fmt.Sprintf("%x", secret[:5]))
	}
}
