package testkit

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// MCPConformance runs the conformance suite of the Model Context Protocol, with all
// requirements of a revision, against the server at address. Failures that the file
// baseline ("": none) lists are expected. If one of them does not occur the test
// fails, too.
func MCPConformance(t *testing.T, address, revision, baseline string) {
	t.Helper()
	args := []string{"server", "--url", address, "--requirements", revision}
	if baseline != "" {
		path, err := filepath.Abs(baseline)
		require.NoError(t, err)
		args = append(args, "--expected-failures", path)
	}
	conform(t, args)
}

// MCPClientConformance runs one scenario of the suite, with one revision, against a
// client: a command that gets the address of a server as its last argument, with
// env added to the environment of this process.
func MCPClientConformance(t *testing.T, command []string, scenario, revision string, env ...string) {
	t.Helper()
	conform(t, []string{"client", "--command", strings.Join(command, " "), "--scenario", scenario, "--spec-version", revision}, env...)
}

// conform runs the suite with arguments.
func conform(t *testing.T, args []string, env ...string) {
	t.Helper()
	script := filepath.Join(NodeModules(t), "@modelcontextprotocol", "conformance", "dist", "index.js")
	results := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, Program(t, "node"), append(append([]string{script}, args...), "--output-dir", results)...)
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	_, summary, ok := strings.Cut(string(out), "=== SUMMARY ===")
	if !ok {
		summary = string(out)
	}
	t.Log(summary)
	require.NoError(t, err, "%s", failedChecks(t, results))
}

// scenario matches the name of a scenario in the name of its folder of results.
var scenario = regexp.MustCompile(`([^/\\]+)-\d{4}-\d\d-\d\dT[^/\\]*$`)

// failedChecks returns the failed checks of a run of the suite in the format of a
// baseline.
func failedChecks(t *testing.T, results string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(results, "*", "checks.json"))
	require.NoError(t, err)
	var out strings.Builder
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		var checks []struct{ ID, Status, ErrorMessage string }
		require.NoError(t, json.Unmarshal(raw, &checks), "%s", raw)
		for _, c := range checks {
			if c.Status == "FAILURE" || c.Status == "WARNING" {
				fmt.Fprintf(&out, "%s:%s %s\n", strings.TrimPrefix(scenario.FindStringSubmatch(filepath.Dir(file))[1], "server-"), c.ID, c.ErrorMessage)
			}
		}
	}
	return out.String()
}

// BearerProxy returns the address of a proxy that adds a token to each request, for
// clients that cannot send one. It keeps the Host header.
func BearerProxy(t testing.TB, target, token string) string {
	t.Helper()
	to, err := url.Parse(target)
	require.NoError(t, err)
	srv := httptest.NewServer(&httputil.ReverseProxy{
		FlushInterval: -1,
		ErrorLog:      slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo), // clients disconnect
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
