package guard_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/guard"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

func TestMalformed(t *testing.T) {
	t.Parallel()
	g, err := guard.New(nil)
	require.NoError(t, err)
	for _, url := range testkit.MalformedURLs {
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
	g, _ := recorded(t, "127.0.0.1")
	t.Run("redirect is not followed", func(t *testing.T) {
		t.Parallel()
		for _, to := range []string{"http://169.254.169.254/", "http://public.test/", "http://loop.test/", "//[::1]/"} {
			g, d := recorded(t, "127.0.0.1")
			s := httptest.NewServer(http.RedirectHandler(to, http.StatusTemporaryRedirect))
			t.Cleanup(s.Close)
			res, err := g.Client().Get(s.URL)
			require.NoError(t, err)
			require.NoError(t, res.Body.Close())
			require.Equal(t, http.StatusTemporaryRedirect, res.StatusCode)
			require.Equal(t, []string{s.Listener.Addr().String()}, d.all())
		}
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
		g, d := recorded(t, "127.0.0.1")
		client := g.Client()
		for range 5 {
			res, err := client.Get(s.URL)
			require.NoError(t, err)
			require.NoError(t, res.Body.Close())
		}
		require.Len(t, d.all(), 1)
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
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:1")
	g, d := recorded(t)
	require.ErrorIs(t, get(t, g, "http://meta.test/"), guard.ErrRefused)
	require.Empty(t, d.all())
	require.Error(t, get(t, g, "http://public.test/"))
	require.Equal(t, []string{"93.184.216.34:80"}, d.all())
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
