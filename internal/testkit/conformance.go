package testkit

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// MCPConformance runs the conformance suite of the Model Context Protocol, all
// that a revision requires, against the server at address. Failures named in
// the file baseline ("": none) are expected; one that does not happen fails
// the test too.
func MCPConformance(t *testing.T, address, revision, baseline string) {
	t.Helper()
	script := filepath.Join(NodeModules(t), "@modelcontextprotocol", "conformance", "dist", "index.js")
	args := []string{script, "server", "--url", address, "--requirements", revision, "--output-dir", t.TempDir()}
	if baseline != "" {
		path, err := filepath.Abs(baseline)
		require.NoError(t, err)
		args = append(args, "--expected-failures", path)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, Program(t, "node"), args...)
	cmd.Dir = t.TempDir()
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	_, summary, _ := strings.Cut(string(out), "=== SUMMARY ===")
	t.Log(summary)
}

// BearerProxy is the address of a proxy that adds a token to each request, for
// clients that cannot send one. It keeps the name by which it was called.
func BearerProxy(t testing.TB, target, token string) string {
	t.Helper()
	to, err := url.Parse(target)
	require.NoError(t, err)
	srv := httptest.NewServer(&httputil.ReverseProxy{
		FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.Host = r.In.Host
			r.Out.Header.Set("Authorization", "Bearer "+token)
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	})
	t.Cleanup(srv.Close)
	return srv.URL
}
