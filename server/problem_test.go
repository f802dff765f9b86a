package server_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/server"
)

const (
	eventually = 2 * time.Minute // longest wait of a test: a third retry comes after half a minute, on a machine that may stand still meanwhile
	tick       = 20 * time.Millisecond
)

func atoi(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	require.NoError(t, err)
	return n
}

func TestProblemCodes(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.AddTestRoutes()
	require.Len(t, server.Codes(), 28)
	for code, status := range server.Codes() {
		a := f.do(t, "GET", "/test/code/"+code, "")
		a.problem(status, code)
		require.Equal(t, "2", a.Header().Get("Retry-After"))
	}
}

func TestProblems(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.AddTestRoutes()
	for name, c := range map[string]struct {
		method, path, body string
		header             []string
		status             int
		code               string
		says               []string // parts of the answer
	}{
		"no such path":      {"GET", "/nowhere", "", nil, 404, "not_found", nil},
		"trailing slash":    {"GET", "/probe/", "", nil, 404, "not_found", nil},
		"wrong method":      {"DELETE", "/user/me", "", nil, 405, "method_not_allowed", nil},
		"no JSON":           {"POST", "/test/echo", `{"text":`, nil, 400, "validation", []string{"not valid JSON"}},
		"two values":        {"POST", "/test/echo", `{"text":"a"}{}`, nil, 400, "validation", []string{"not valid JSON"}},
		"other type":        {"POST", "/test/echo", `text=hush-hush`, []string{"Content-Type", "application/x-www-form-urlencoded"}, 415, "unsupported_media_type", []string{"application/json"}},
		"unknown field":     {"POST", "/test/echo", `{"text":"a","extra":"hush-hush"}`, nil, 422, "validation", []string{`"body.extra"`, "not a known field"}},
		"missing field":     {"POST", "/test/echo", `{}`, nil, 422, "validation", []string{`"body.text"`, "is required"}},
		"an array":          {"POST", "/test/echo", `["hush-hush"]`, nil, 422, "validation", []string{`"body"`}},
		"wrong type":        {"POST", "/test/echo", `{"text":7}`, nil, 422, "validation", []string{`"body.text"`, "expected string"}},
		"null":              {"POST", "/test/echo", `{"text":null}`, nil, 422, "validation", []string{`"body.text"`}},
		"too long":          {"POST", "/test/echo", `{"text":"hush-hush hush-hush hush-hush"}`, nil, 422, "validation", []string{`"body.text"`, "20"}},
		"out of range":      {"POST", "/test/echo", `{"text":"a","count":0}`, nil, 422, "validation", []string{`"body.count"`}},
		"no integer":        {"POST", "/test/echo", `{"text":"a","count":1e400}`, nil, 400, "validation", nil},
		"no URI":            {"POST", "/test/echo", `{"text":"a","link":"://hush-hush"}`, nil, 422, "validation", []string{`"body.link"`}},
		"not in list":       {"POST", "/test/echo", `{"text":"a","kind":"hush-hush"}`, nil, 422, "validation", []string{`"body.kind"`}},
		"several":           {"POST", "/test/echo", `{"count":0,"kind":"c"}`, nil, 422, "validation", []string{`"body.text"`, `"body.count"`, `"body.kind"`}},
		"unknown parameter": {"POST", "/test/echo?limt=3", `{"text":"a"}`, nil, 422, "validation", []string{`"query.limt"`, "not a known parameter"}},
		"bad parameter":     {"POST", "/test/echo?limit=hush-hush", `{"text":"a"}`, nil, 422, "validation", []string{`"query.limit"`}},
		"large parameter":   {"POST", "/test/echo?limit=6", `{"text":"a"}`, nil, 422, "validation", []string{`"query.limit"`}},
		"hidden error":      {"GET", "/test/leak", "", nil, 500, "internal", nil},
		"panic":             {"GET", "/test/panic", "", nil, 500, "internal", nil},
		"no token":          {"GET", "/test/manage", "", nil, 401, "unauthorized", nil},
		"2 MiB for signup": {
			"POST", "/user/signup", `{"email":"` + strings.Repeat("x", 2<<20) + `"}`, nil, 413, "payload_too_large",
			[]string{"1 MiB"},
		},
		"larger bound": {"POST", "/test/echo", `{"text":"` + strings.Repeat("x", 2<<20) + `"}`, nil, 413, "payload_too_large", []string{"2 MiB"}},
		"no body":      {"POST", "/test/echo", "", nil, 400, "validation", []string{"no body"}},
		"XML, please":  {"GET", "/test/leak", "", []string{"Accept", "application/xml"}, 500, "internal", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := f.do(t, c.method, c.path, c.body, c.header...)
			a.problem(c.status, c.code)
			body := a.Body.String()
			for _, part := range c.says {
				require.Contains(t, body, part)
			}
			for _, hidden := range []string{"hush-hush", "hidden words", "pq:", "goroutine"} {
				require.NotContains(t, body, hidden)
			}
		})
	}
}

func TestBodyOfExactlyTheBound(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.AddTestRoutes()
	fill := strings.Repeat(" ", 2<<20-len(`{"text":"a"}`))
	require.Equal(t, "a", f.do(t, "POST", "/test/echo", `{"text":"a"}`+fill).json(200)["text"])
	f.do(t, "POST", "/test/echo", `{"text":"a"}`+fill+" ").problem(413, "payload_too_large")
}

func TestAllow(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.AddTestRoutes()
	for path, want := range map[string][]string{
		"/user/me":     {"GET", "HEAD"},
		"/user/login":  {"POST"},
		"/test/echo":   {"POST"}, // GET /test/{id} is another path
		"/swagger":     {"GET", "HEAD"},
		"/panel/":      {"GET", "HEAD"},
		"/user/signup": {"POST"},
	} {
		a := f.do(t, "PUT", path, "")
		a.problem(405, "method_not_allowed")
		require.Equal(t, want, a.Header().Values("Allow"), path)
	}
}

// TestErrorsAreLogged finds what a client must not see under the request's id.
func TestErrorsAreLogged(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.AddTestRoutes()
	leak := f.do(t, "GET", "/test/leak", "").Header().Get("X-Request-Id")
	panicked := f.do(t, "GET", "/test/panic", "").Header().Get("X-Request-Id")
	f.do(t, "GET", "/probe?token=in-a-query", "")
	f.do(t, "GET", "/nowhere/in-a-path", "")
	require.NotEqual(t, leak, panicked)
	found := 0
	for line := range strings.Lines(f.log.String()) {
		if strings.Contains(line, `"request_id":"`+leak+`"`) && strings.Contains(line, "pq: password") {
			found++
		}
		if strings.Contains(line, `"request_id":"`+panicked+`"`) && strings.Contains(line, "hidden words") {
			found++
		}
		if strings.Contains(line, `"msg":"request"`) && strings.Contains(line, `"route":"/test/`) {
			found++
		}
	}
	require.Equal(t, 4, found, f.log.String())
	require.NotContains(t, f.log.String(), "in-a-")
}

func TestLiteralBeforeParameter(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.AddTestRoutes() // registers {id} first
	require.Equal(t, map[string]any{"literal": "yes"}, f.do(t, "GET", "/test/literal", "").json(200))
	require.Equal(t, map[string]any{"any": "other"}, f.do(t, "GET", "/test/other", "").json(200))
}

func TestHead(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	require.Equal(t, 200, f.do(t, "HEAD", "/probe", "").Code)
	require.Equal(t, 200, f.do(t, "HEAD", "/swagger", "").Code)
	require.Equal(t, 401, f.do(t, "HEAD", "/user/me", "").Code)
	require.Equal(t, 405, f.do(t, "HEAD", "/user/login", "").Code)
}
