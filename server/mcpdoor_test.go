package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/server"
)

// mcpHeaders are what a client of the protocol sends with a message.
var mcpHeaders = []string{"Accept", "application/json, text/event-stream", "Mcp-Protocol-Version", "2025-06-18"}

// rpc calls a method of the protocol with the user's token.
func (c client) rpc(t *testing.T, method, params string, header ...string) answer {
	t.Helper()
	return c.call(t, "POST", "/mcp", rpcBody(method, params), append(mcpHeaders, header...)...)
}

func rpcBody(method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params)
}

// TestProtocolHandler shows who comes in at /mcp: bearers of a token of ours with
// mcp.execute, and nobody with a cookie.
func TestProtocolHandler(t *testing.T) {
	t.Parallel()
	onDoors(t, func(t *testing.T, f fixture, _ *sqlx.DB) {
		ana := f.as(t, "ana")
		login := f.do(t, "POST", "/user/login", `{"email":"ana@example.org","password":"correct horse","cookie":true}`)
		cookie := strings.Split(login.Header().Get("Set-Cookie"), ";")[0]
		require.NotEmpty(t, cookie)
		bad, genuine := forgeries(t, ana.token)
		nobody := func(why string, header ...string) {
			a := f.do(t, "POST", "/mcp", rpcBody("tools/list", `{}`), append(mcpHeaders, header...)...)
			require.Equal(t, 401, a.Code, why)
			require.Contains(t, a.Header().Get("WWW-Authenticate"), `resource_metadata="http://localhost:3000/.well-known/oauth-protected-resource/mcp"`, why)
			require.NotContains(t, a.Body.String(), "toggle_bot", why)
		}
		nobody("no token")
		nobody("a cookie", "Cookie", cookie)
		nobody("a token in a cookie", "Cookie", "trunkline="+ana.token)
		for why, token := range bad {
			nobody(why, "Authorization", "Bearer "+token)
		}
		require.Equal(t, 401, f.do(t, "POST", "/mcp?token="+ana.token, rpcBody("tools/list", `{}`), mcpHeaders...).Code, "a token in the query")
		a := f.do(t, "POST", "/mcp", rpcBody("tools/list", `{}`), append(mcpHeaders, "Authorization", "Bearer "+genuine)...)
		require.Equal(t, 200, a.Code, a.Body.String())
		require.Contains(t, a.Body.String(), "toggle_bot")
		require.NotEmpty(t, a.Header().Get("X-Request-Id"))

		scoped := ana.call(t, "POST", "/user/token", fmt.Sprintf(`{"name":"P","permissions":["chats.read"],"expiresAt":%d}`, time.Now().Add(time.Hour).Unix()))
		without := client{f, scoped.json(201)["token"].(string)}
		require.Equal(t, 403, without.rpc(t, "tools/list", `{}`).Code)
		require.Equal(t, 403, ana.rpc(t, "tools/list", `{}`, "Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site").Code)

		meta := f.do(t, "GET", "/.well-known/oauth-protected-resource/mcp", "").json(200)
		require.Equal(t, "http://localhost:3000/mcp", meta["resource"])
		require.Equal(t, 405, ana.call(t, "PUT", "/mcp", `{}`).Code)
	})
}

// TestProtocolCall calls the same functions by the protocol: with the same
// rights, limits and audit.
func TestProtocolCall(t *testing.T) {
	t.Parallel()
	at := time.Now()
	onDatabases(t, func(c *server.Config) {
		c.MCPLimit, c.APILimit, c.Now = 3, 100, func() time.Time { return at }
	}, func(t *testing.T, f fixture) {
		ben, ana := f.as(t, "ben"), f.as(t, "ana")
		theirs, ref := ben.sandbox(t), ana.sandbox(t)
		toggle := func(ref int) string {
			return fmt.Sprintf(`{"name":"toggle_bot","arguments":{"reference":%d,"chatId":"ana","active":false}}`, ref)
		}
		require.Contains(t, ana.rpc(t, "tools/call", toggle(ref)).Body.String(), `"previousState":1`)
		require.Contains(t, ana.rpc(t, "tools/call", toggle(theirs)).Body.String(), `not_found`)
		ana.execute(t, "toggle_bot", fmt.Sprintf(`{"reference":%d,"chatId":"ana","active":false}`, ref)).json(200)
		limited := ana.rpc(t, "tools/call", toggle(ref))
		require.Equal(t, 200, limited.Code)
		require.Contains(t, limited.Body.String(), `"isError":true`)
		require.Contains(t, limited.Body.String(), `rate_limited`)
		audit := ana.call(t, "GET", "/service-mcp/audit", "").json(200)["items"].([]any)
		outcomes := []any{}
		for _, e := range audit {
			outcomes = append(outcomes, e.(map[string]any)["outcome"])
		}
		require.Equal(t, []any{"rate_limited", "ok", "not_found", "ok"}, outcomes)
		require.Contains(t, metrics(t, f), `trunkline_mcp_call_duration_seconds_count{function="toggle_bot",outcome="ok"} 2`)
		for range 100 {
			limited = ana.rpc(t, "ping", `{}`)
		}
		require.Equal(t, http.StatusTooManyRequests, limited.Code)
		require.NotEmpty(t, limited.Header().Get("Retry-After"))
	})
}
