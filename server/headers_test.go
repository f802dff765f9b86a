package server_test

import (
	"crypto/tls"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/server"
)

// TestSecurityHeaders reads what every answer tells browsers: pages, the API,
// refusals, redirects and callbacks.
func TestSecurityHeaders(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	ana := f.as(t, "ana")
	page := ana.do(t, "GET", "/panel/", "")
	for name, a := range map[string]answer{
		"panel": page, "document": f.do(t, "GET", "/swagger", ""), "redirect": f.do(t, "GET", "/", ""),
		"API": ana.call(t, "GET", "/user/me", ""), "refused": f.do(t, "GET", "/user/me", ""), "nowhere": f.do(t, "GET", "/nowhere", ""),
		"method": f.do(t, "TRACE", "/user/me", ""), "folder": f.do(t, "GET", "/panel/assets/", ""),
		"media": f.do(t, "GET", "/media/none/none", ""), "callback": f.do(t, "GET", "/callback/none", ""),
	} {
		h := a.Header()
		policy := h.Get("Content-Security-Policy")
		require.True(t, strings.HasPrefix(policy, "default-src 'none'"), "%s: %s", name, policy)
		require.NotContains(t, policy, "object-src", name)
		require.Contains(t, policy, "base-uri 'none'", name)
		require.Contains(t, policy, "frame-ancestors 'none'", name)
		require.Equal(t, "nosniff", h.Get("X-Content-Type-Options"), name)
		require.Equal(t, "no-referrer", h.Get("Referrer-Policy"), name)
		if strings.HasPrefix(h.Get("Content-Type"), "text/") {
			require.Contains(t, h.Get("Content-Type"), "; charset=utf-8", name)
		}
		if a.Body.Len() > 0 {
			require.NotEmpty(t, h.Get("Content-Type"), name)
		}
	}
	require.Contains(t, page.Header().Get("Content-Security-Policy"), "require-trusted-types-for 'script'")
	for _, path := range []string{"/user/me", "/user/sessions", "/account"} {
		require.Equal(t, "no-store", ana.call(t, "GET", path, "").Header().Get("Cache-Control"), path)
	}
	a := ana.call(t, "GET", "/user/me", "", "Origin", "https://elsewhere.example")
	for name := range a.Header() {
		require.NotContains(t, strings.ToLower(name), "access-control-allow", "no other origin reads answers")
	}
}

// TestTLSVersions offers the server old versions of TLS and weak ciphers.
func TestTLSVersions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	testkit.Certificate(t, dir, 1)
	cert, err := server.LoadCertificate(dir+"/cert.pem", dir+"/key.pem", nil)
	require.NoError(t, err)
	r := run(t, setup(t, nil), server.Listeners{Certificate: cert})
	dial := func(c *tls.Config) (uint16, error) {
		c.InsecureSkipVerify = true
		d := tls.Dialer{Config: c}
		conn, err := d.DialContext(t.Context(), "tcp", r.addr)
		if err != nil {
			return 0, err
		}
		defer func() { _ = conn.Close() }()
		return conn.(*tls.Conn).ConnectionState().Version, nil
	}
	version, err := dial(&tls.Config{MinVersion: tls.VersionTLS10})
	require.NoError(t, err)
	require.EqualValues(t, tls.VersionTLS13, version)
	_, err = dial(&tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11})
	require.ErrorContains(t, err, "protocol version")
	for _, suite := range tls.InsecureCipherSuites() {
		_, err = dial(&tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{suite.ID}})
		require.Error(t, err, suite.Name)
	}
}
