package server_test

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit/totp"
	"github.com/trunklinehq/trunkline/server"
	"github.com/trunklinehq/trunkline/server/internal/middleware"
)

// TestSecondFactor sets up an authenticator app and logs in with it.
func TestSecondFactor(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	bearer := []string{"Authorization", "Bearer " + f.signUp(t, "ana@example.org")}
	require.Equal(t, false, f.do(t, "GET", "/user/second-factor", "", bearer...).json(200)["enabled"])
	f.do(t, "DELETE", "/user/second-factor", `{"password":"correct horse"}`, bearer...).problem(404, "not_found")
	require.Equal(t, []string{"body.password"}, locations(f.do(t, "POST", "/user/second-factor", `{"password":"wrong"}`, bearer...).problem(422, "validation")))
	e := f.do(t, "POST", "/user/second-factor", `{"password":"correct horse"}`, bearer...).json(201)
	require.True(t, strings.HasPrefix(e["qr"].(string), "data:image/png;base64,"))
	require.Equal(t, []string{"body.code"}, locations(f.do(t, "POST", "/user/second-factor/confirm", `{"code":"00000x"}`, bearer...).problem(422, "validation")))
	show := func(after time.Duration) string { return totp.Code(t, e["secret"].(string), time.Now().Add(after)) }
	codes := f.do(t, "POST", "/user/second-factor/confirm", `{"code":"`+show(-30*time.Second)+`"}`, bearer...).json(200)["recoveryCodes"].([]any)
	require.Len(t, codes, 10)
	f.do(t, "POST", "/user/second-factor", `{"password":"correct horse"}`, bearer...).problem(409, "conflict")

	p := f.do(t, "POST", "/user/login", logIn).problem(401, "second_factor_required")
	require.Empty(t, p.Errors)
	with := func(code string) string { return strings.Replace(logIn, "{", `{"code":"`+code+`",`, 1) }
	require.Equal(t, []string{"body.code"}, locations(f.do(t, "POST", "/user/login", with("no code")).problem(401, "second_factor_required")))
	code := show(0)
	f.do(t, "POST", "/user/login", with(code)).json(200)
	f.do(t, "POST", "/user/login", with(code)).problem(401, "second_factor_required")
	f.do(t, "POST", "/user/login", with(codes[0].(string))).json(200)
	require.Len(t, f.do(t, "POST", "/user/second-factor/recovery", `{"password":"correct horse"}`, bearer...).json(200)["recoveryCodes"], 10)
	f.do(t, "DELETE", "/user/second-factor", `{"password":"correct horse"}`, bearer...).json(200)
	f.do(t, "POST", "/user/login", logIn).json(200)
}

// TestKnownBrowser keeps a browser in which a user has logged in open to the user
// while others at its address fail.
func TestKnownBrowser(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.signUp(t, "ana@example.org")
	in := f.do(t, "POST", "/user/login", logIn)
	in.json(200)
	var device *http.Cookie
	for _, c := range in.Result().Cookies() {
		if strings.HasSuffix(c.Name, "-device") {
			device = c
		}
	}
	require.NotNil(t, device)
	require.True(t, device.HttpOnly)
	require.Equal(t, http.SameSiteStrictMode, device.SameSite)
	f.do(t, "GET", "/user/me", "", "Cookie", device.Name+"="+device.Value).problem(401, "unauthorized")
	for range 10 {
		f.do(t, "POST", "/user/login", strings.Replace(logIn, "horse", "camel", 1)).problem(401, "unauthorized")
	}
	f.do(t, "POST", "/user/login", logIn).problem(429, "rate_limited")
	f.do(t, "POST", "/user/login", logIn, "Cookie", device.Name+"="+device.Value).json(200)
}

// TestStrictTransport tells browsers to use https where they do.
func TestStrictTransport(t *testing.T) {
	t.Parallel()
	const name = "Strict-Transport-Security"
	proxy := func(c *server.Config) { c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")} }
	plain, behind := setup(t, proxy), setup(t, func(c *server.Config) {
		proxy(c)
		c.BaseURL = "https://chat.example.org"
	})
	require.Empty(t, plain.do(t, "GET", "/probe", "").Header().Get(name))
	require.Equal(t, "max-age=31536000", behind.do(t, "GET", "/probe", "").Header().Get(name)) // httptest comes from 192.0.2.1
	request := func(f fixture, change func(*http.Request)) string {
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/probe", nil)
		change(r)
		w := httptest.NewRecorder()
		f.ServeHTTP(w, r)
		return w.Header().Get(name)
	}
	require.NotEmpty(t, request(plain, func(r *http.Request) { r.TLS = &tls.ConnectionState{} }))
	require.Empty(t, request(behind, func(r *http.Request) { r.RemoteAddr = "198.51.100.1:1234" }), "not through the proxy")
}

// TestUntrustedProxies remembers what looks like a proxy.
func TestUntrustedProxies(t *testing.T) {
	t.Parallel()
	var cfg server.Config
	now := time.Unix(1_900_000_000, 0)
	f := setup(t, func(c *server.Config) {
		c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/24")}
		c.Now = func() time.Time { return now }
		cfg = *c
	})
	for peer, header := range map[string]string{
		"10.0.0.7:1": "198.51.100.1", "10.0.1.7:1": "198.51.100.1", "127.0.0.1:1": "", "198.51.100.9:1": "203.0.113.4", "[fd00::7]:1": "198.51.100.1",
	} {
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/probe", nil)
		r.RemoteAddr = peer
		if header != "" {
			r.Header.Set("X-Forwarded-For", header)
		}
		f.ServeHTTP(httptest.NewRecorder(), r)
	}
	found := func(at time.Time, trusted ...netip.Prefix) []netip.Addr {
		out, err := middleware.UntrustedProxies(t.Context(), cfg.DB, trusted, at)
		require.NoError(t, err)
		return out
	}
	one, two := netip.MustParseAddr("10.0.1.7"), netip.MustParseAddr("fd00::7")
	require.Equal(t, []netip.Addr{one, two}, found(now))
	require.Equal(t, []netip.Addr{two}, found(now, netip.MustParsePrefix("10.0.0.0/8")), "it is trusted now")
	require.Empty(t, found(now.Add(middleware.ProxyNoteTTL)), "long ago")
}
