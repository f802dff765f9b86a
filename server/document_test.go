package server_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/server"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestDocument compares the OpenAPI document with the one that was reviewed:
// run the tests with -update and read the difference.
func TestDocument(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	var got bytes.Buffer
	require.NoError(t, json.Indent(&got, f.do(t, "GET", "/swagger/openapi.json", "").Body.Bytes(), "", "  "))
	got.WriteByte('\n')
	golden := filepath.Join("testdata", "openapi.json")
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(golden, got.Bytes(), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), got.String(), "the API has changed: see -update")
}

// openapi is what these tests read of the document.
type openapi struct {
	OpenAPI string
	Info    struct{ Version string }
	Servers []struct{ URL string }
	Paths   map[string]map[string]struct {
		OperationID string `json:"operationId"`
		Summary     string
		Description string
		Tags        []string
		Security    *[]map[string][]string
		Responses   map[string]struct {
			Ref     string `json:"$ref"`
			Content map[string]any
		}
	}
	Components struct{ Schemas map[string]any }
}

func document(t *testing.T, f fixture) openapi {
	t.Helper()
	var d openapi
	require.NoError(t, json.Unmarshal(f.do(t, "GET", "/swagger/openapi.json", "").Body.Bytes(), &d))
	return d
}

// TestOperations asks for each operation of the document: its own route
// answers, and only the public ones without a token.
func TestOperations(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	d := document(t, f)
	require.Equal(t, "3.1.0", d.OpenAPI)
	require.Equal(t, "1.2.3", d.Info.Version)
	for name := range d.Components.Schemas {
		require.NotContains(t, name, "V2", "a schema of huma's own")
	}
	ids := map[string]bool{}
	parameter := regexp.MustCompile(`\{[^}]+\}`)
	for path, methods := range d.Paths {
		for method, op := range methods {
			name := method + " " + path
			require.Regexp(t, `^[A-Z][A-Za-z]*_[A-Z][A-Za-z]*$`, op.OperationID, name)
			require.False(t, ids[op.OperationID], "operationId %s is used twice", op.OperationID)
			ids[op.OperationID] = true
			require.NotEmpty(t, op.Summary, name)
			require.NotEmpty(t, op.Tags, name)
			for status, r := range op.Responses {
				if status >= "400" && r.Ref == "" { // else see TestRefusalsAreDocumented
					require.NotEmpty(t, r.Content, "%s %s", name, status)
				}
			}
			a := f.do(t, strings.ToUpper(method), parameter.ReplaceAllString(path, "1"), "")
			require.NotContains(t, []int{404, 405}, a.Code, name)
			if path != "/probe" { // logged at debug level
				require.Equal(t, path, routeOf(t, f, a.Header().Get("X-Request-Id")), name)
			}
			require.NotNil(t, op.Security, name)
			if len(*op.Security) > 0 {
				a.problem(401, "unauthorized")
			}
		}
	}
	for _, id := range []string{"Auth_SignUp", "Auth_Login", "Auth_User", "Server_Probe"} {
		require.True(t, ids[id], id)
	}
}

// routeOf finds in the log which route answered a request.
func routeOf(t *testing.T, f fixture, id string) string {
	t.Helper()
	for line := range strings.Lines(f.log.String()) {
		var l struct {
			Msg       string
			Route     string
			RequestID string `json:"request_id"`
		}
		if json.Unmarshal([]byte(line), &l) == nil && l.Msg == "request" && l.RequestID == id {
			return l.Route
		}
	}
	return ""
}

func TestDocumentIsDeterministic(t *testing.T) {
	t.Parallel()
	one := setup(t, nil).do(t, "GET", "/swagger/openapi.json", "").Body.String()
	two := setup(t, nil).do(t, "GET", "/swagger/openapi.json", "").Body.String()
	require.Equal(t, one, two)
}

func TestPages(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	a := f.do(t, "GET", "/", "")
	require.Equal(t, 302, a.Code)
	require.Equal(t, "/panel/", a.Header().Get("Location"))
	require.Equal(t, "/panel/", f.do(t, "GET", "/panel", "").Header().Get("Location"))

	panel := f.do(t, "GET", "/panel/", "")
	require.Equal(t, 200, panel.Code)
	require.Contains(t, panel.Header().Get("Content-Security-Policy"), "default-src 'none'")
	require.NotRegexp(t, `(src|href)="https?://`, panel.Body.String(), "nothing from elsewhere")
	for _, m := range regexp.MustCompile(`(?:src|href)="(/panel/assets/[^"]+)"`).FindAllStringSubmatch(panel.Body.String(), -1) {
		asset := f.do(t, "GET", m[1], "")
		require.Equal(t, 200, asset.Code, m[1])
		require.Contains(t, asset.Header().Get("Cache-Control"), "immutable")
	}
	require.Equal(t, panel.Body.String(), f.do(t, "GET", "/panel/inbox/1", "").Body.String())
	require.Equal(t, 404, f.do(t, "GET", "/panel/assets/none.js", "").Code)

	docs := f.do(t, "GET", "/swagger", "")
	require.Equal(t, 200, docs.Code)
	policy := docs.Header().Get("Content-Security-Policy")
	require.Contains(t, policy, "script-src 'self';")
	require.NotContains(t, docs.Body.String(), "<script>", "nothing inline")
	require.NotRegexp(t, `https?://`, docs.Body.String(), "nothing from elsewhere")
	for _, m := range regexp.MustCompile(`(?:src|href)="(swagger/[^"]+)"`).FindAllStringSubmatch(docs.Body.String(), -1) {
		plain := f.do(t, "GET", "/"+m[1], "")
		require.Equal(t, 200, plain.Code, m[1])
		require.NotEmpty(t, plain.Body.Bytes())
		zipped := f.do(t, "GET", "/"+m[1], "", "Accept-Encoding", "br, gzip")
		require.LessOrEqual(t, zipped.Body.Len(), plain.Body.Len())
		require.Equal(t, 304, f.do(t, "GET", "/"+m[1], "", "If-None-Match", plain.Header().Get("ETag")).Code)
	}
	js := f.do(t, "GET", "/swagger/swagger-ui-bundle.js", "", "Accept-Encoding", "gzip")
	require.Equal(t, "gzip", js.Header().Get("Content-Encoding"))
	require.Contains(t, js.Header().Get("Content-Type"), "javascript")
}

// TestPagesBelowAPath has a proxy that serves us below a path of its own.
func TestPagesBelowAPath(t *testing.T) {
	t.Parallel()
	f := setup(t, func(c *server.Config) { c.BaseURL = "https://example.org/chat/" })
	require.Equal(t, "/chat/panel/", f.do(t, "GET", "/", "").Header().Get("Location"))
	require.Contains(t, f.do(t, "GET", "/panel/", "").Body.String(), `src="/chat/panel/assets/`)
	servers := document(t, f).Servers
	require.Equal(t, "/chat", servers[0].URL)
	require.Equal(t, "https://example.org/chat", servers[1].URL)
}

func TestWithoutPanel(t *testing.T) {
	t.Parallel()
	f := setup(t, func(c *server.Config) { c.Panel = nil })
	require.Equal(t, "/swagger", f.do(t, "GET", "/", "").Header().Get("Location"))
	f.do(t, "GET", "/panel/", "").problem(404, "not_found")
}

func TestProbe(t *testing.T) {
	t.Parallel()
	testkit.EachURL(t, func(t *testing.T, url string) {
		db := testkit.Open(t, url)
		f := setupOn(t, db, nil)
		got := f.do(t, "GET", "/probe", "").json(200)
		require.IsType(t, 0.0, got["uptime"])
		delete(got, "uptime")
		dialect := "sqlite"
		if strings.HasPrefix(url, "postgres") {
			dialect = "postgres"
		}
		require.Equal(t, map[string]any{"status": "ok", "version": "1.2.3", "database": dialect}, got)
		db.MustExec(`DROP TABLE server_probe`)
		require.Eventually(t, func() bool { return f.do(t, "GET", "/probe", "").Code == 503 }, eventually, tick)
		f.do(t, "GET", "/probe", "").problem(503, "unavailable")
	})
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.do(t, "GET", "/metrics", "").problem(404, "not_found")
	f.do(t, "GET", "/user/me", "")
	f.do(t, "BREW", "/some/scanner", "")
	text := metrics(t, f)
	require.Contains(t, text, `trunkline_http_request_duration_seconds_count{code="401",method="GET",route="/user/me"} 1`)
	require.Contains(t, text, `trunkline_http_request_duration_seconds_count{code="404",method="any",route="none"} 2`)
	require.Contains(t, text, `trunkline_build_info{version="1.2.3"} 1`)
	require.Contains(t, text, "go_goroutines")
}
