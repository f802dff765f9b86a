package protocol_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/mcp/protocol"
)

const listTools = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`

// reply is the response to a request.
type reply struct {
	status    int
	challenge string
	body      string
}

// post sends a message as a client of revision 2025-11-25 does. change may modify
// the request.
func post(t *testing.T, address, body string, change func(*http.Request)) reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address+protocol.Path, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+everything)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	if change != nil {
		change(req)
	}
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return reply{resp.StatusCode, resp.Header.Get("WWW-Authenticate"), string(got)}
}

func header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

// TestHTTPHandler shows which requests reach a method, and how others are refused.
func TestHTTPHandler(t *testing.T) {
	t.Parallel()
	s := newShop(t, nil)
	s.opts.BaseURL = "https://chat.example.com"
	address := serve(t, s.Registry, s.opts)
	const challenge = `Bearer resource_metadata="https://chat.example.com/.well-known/oauth-protected-resource/mcp"`

	for name, tc := range map[string]struct {
		body      string
		change    func(*http.Request)
		status    int
		says      string
		challenge string
	}{
		"as it should be":     {status: 200, says: "order_state"},
		"by the proxy's name": {status: 200, change: func(r *http.Request) { r.Host = "chat.example.com" }},
		"from our own page":   {status: 200, change: header("Origin", "https://chat.example.com")},
		"scheme in lower case": {
			status: 200, change: header("Authorization", "bearer "+everything),
		},
		"no token": {
			status: 401, says: "a bearer token is required", challenge: challenge,
			change: func(r *http.Request) { r.Header.Del("Authorization") },
		},
		"a cookie instead": {
			status: 401, challenge: challenge,
			change: func(r *http.Request) {
				r.Header.Del("Authorization")
				r.AddCookie(&http.Cookie{Name: "__Host-trunkline", Value: everything})
			},
		},
		"another scheme": {status: 401, challenge: challenge, change: header("Authorization", "Basic "+everything)},
		"unknown token": {
			status: 401, says: "the token is not valid", challenge: challenge + `, error="invalid_token"`,
			change: header("Authorization", "Bearer unknown"),
		},
		"no right": {
			status: 403, says: "mcp.execute", challenge: challenge + `, error="insufficient_scope"`,
			change: header("Authorization", "Bearer "+stranger),
		},
		"nobody can tell": {status: 503, change: header("Authorization", "Bearer "+broken)},
		"page of another site": {
			status: 403, change: header("Origin", "https://evil.example"),
		},
		"name of another site": {status: 403, change: func(r *http.Request) { r.Host = "evil.example" }},
		"batch":                {status: 400, says: "not an array", body: "[" + listTools + "," + listTools + "]"},
		"batch behind blanks":  {status: 400, says: "not an array", body: strings.Repeat(" \n", 2000) + "[" + listTools + "]"},
		"too large":            {status: 413, body: `{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("x", 1<<20) + `"}`},
		"only blanks":          {status: 413, body: strings.Repeat(" ", 2<<20)},
		"no JSON":              {status: 400, body: `{"jsonrpc":`},
		"nothing":              {status: 400, body: ""},
		"no method":            {status: 400, body: `{"jsonrpc":"2.0","id":1,"method":"no/such"}`},
		"a stream":             {status: 405, change: func(r *http.Request) { r.Method = http.MethodGet }},
		"end of a session":     {status: 405, change: func(r *http.Request) { r.Method = http.MethodDelete }},
		"another type":         {status: 415, change: header("Content-Type", "text/plain")},
		"accepts no stream":    {status: 400, change: header("Accept", "application/json")},
		"unknown revision":     {status: 400, change: header("Mcp-Protocol-Version", "2025-01-01")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tc.body == "" && name != "nothing" {
				tc.body = listTools
			}
			got := post(t, address, tc.body, tc.change)
			require.Equal(t, tc.status, got.status, got.body)
			require.Contains(t, got.body, tc.says)
			require.Equal(t, tc.challenge, got.challenge)
			require.NotContains(t, got.body, "deadline", "what went wrong inside stays there")
		})
	}
}

// TestDepth checks that deeply nested values do no harm.
func TestDepth(t *testing.T) {
	t.Parallel()
	s := newShop(t, nil)
	address := serve(t, s.Registry, s.opts)
	deep := strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat("}", 100_000)
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"counts","arguments":` + deep + `}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"counts","_meta":` + deep + `}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + deep + `}`,
		deep,
	} {
		got := post(t, address, body, nil)
		require.Equal(t, http.StatusBadRequest, got.status)
		require.Less(t, len(got.body), 4096)
	}
	require.Equal(t, http.StatusOK, post(t, address, listTools, nil).status)
}

// TestMetadata shows what a client can learn before it has a token.
func TestMetadata(t *testing.T) {
	t.Parallel()
	s := newShop(t, nil)
	s.opts.BaseURL = "https://chat.example.com/"
	resp, err := http.Get(serve(t, s.Registry, s.opts) + protocol.MetadataPath)
	require.NoError(t, err)
	defer resp.Body.Close()
	var got map[string]any
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&got))
	require.Equal(t, map[string]any{
		"resource": "https://chat.example.com/mcp", "resource_name": "Trunkline",
		"bearer_methods_supported": []any{"header"},
		"scopes_supported":         []any{"mcp.execute", "orders.read", "orders.write"},
	}, got)
}
