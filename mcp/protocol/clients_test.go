package protocol_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/mcp"
	"github.com/trunklinehq/trunkline/mcp/protocol"
)

// generations are the official TypeScript clients with their revisions: the default
// one and the newest.
var generations = map[string]struct{ pack, asks, speaks string }{
	"v1":        {"v1", "", "2025-11-25"},
	"v2":        {"v2", "", "2025-11-25"},
	"v2 newest": {"v2", newest, newest},
}

// TestTypeScriptClients checks that independent clients understand the server. Both
// generations validate results against the schemas.
func TestTypeScriptClients(t *testing.T) {
	t.Parallel()
	for name, client := range generations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t, nil)
			call := func(tool string, arguments map[string]any) testkit.MCPStep {
				return testkit.MCPStep{Do: "call", Params: map[string]any{"name": tool, "arguments": arguments}}
			}
			revision, got := testkit.MCPTask{
				Package: client.pack, Revision: client.asks, URL: serve(t, s.Registry, s.opts) + protocol.Path, Token: everything,
				Steps: []testkit.MCPStep{
					{Do: "tools"},
					call("order_state", map[string]any{"reference": 7, "id": "ana"}),
					call("order_state", map[string]any{"reference": "7"}),
					call("panics", nil),
					call("counts", nil),
					call("no_such", nil),
					{Do: "templates"},
					{Do: "read", Params: map[string]any{"uri": "shop://order/7/of/ana"}},
					{Do: "read", Params: map[string]any{"uri": "shop://order/7/of/nobody"}},
					{Do: "prompts"},
					{Do: "prompt", Params: map[string]any{"name": "chase", "arguments": map[string]any{"reference": "7", "id": "ana"}}},
				},
			}.Run(t)
			require.Equal(t, client.speaks, revision)
			require.Len(t, got, 11)
			require.Len(t, listed(t, got[0], "tools"), 7)
			require.JSONEq(t, `{"reference":7,"id":"ana","state":"sent"}`, string(result(t, got[1], false).StructuredContent))
			require.Contains(t, string(result(t, got[2], true).StructuredContent), `"argument":"id"`)
			require.Contains(t, string(result(t, got[3], true).StructuredContent), `"code":"internal"`)
			result(t, got[4], false)
			require.Len(t, got[4].Progress, 4)
			require.InDelta(t, 4, got[4].Progress[3].Progress, 0)
			require.Contains(t, got[5].Error.Message, "no_such")
			require.Len(t, listed(t, got[6], "resourceTemplates"), 1)
			require.Contains(t, string(got[7].Result), `\"state\":\"sent\"`)
			require.Contains(t, got[8].Error.Message, "not found")
			require.Len(t, listed(t, got[9], "prompts"), 2)
			require.Contains(t, string(got[10].Result), "Remind them of order 7.")
		})
	}
}

// TestTypeScriptClientHangsUp shows that an abandoned call ends on the newest
// revision.
func TestTypeScriptClientHangsUp(t *testing.T) {
	t.Parallel()
	s := newShop(t, nil)
	_, got := testkit.MCPTask{
		Package: "v2", Revision: newest, URL: serve(t, s.Registry, s.opts) + protocol.Path, Token: everything,
		Steps: []testkit.MCPStep{{Do: "abandon", Params: map[string]any{"name": "waits"}}},
	}.Run(t)
	require.NotNil(t, got[0].Error)
	require.ErrorIs(t, <-s.ended, context.Canceled)
}

// TestTypeScriptClientsWithoutToken checks that a client learns why it cannot
// connect.
func TestTypeScriptClientsWithoutToken(t *testing.T) {
	t.Parallel()
	s := newShop(t, nil)
	address := serve(t, s.Registry, s.opts) + protocol.Path
	for name, client := range generations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, got := testkit.MCPTask{Package: client.pack, Revision: client.asks, URL: address, Steps: []testkit.MCPStep{{Do: "tools"}}}.Run(t)
			require.Len(t, got, 1)
			require.Regexp(t, "a bearer token is required|HTTP 401", got[0].Error.Message)
		})
	}
}

// listed returns the entries of a list.
func listed(t *testing.T, r testkit.MCPResult, member string) []any {
	t.Helper()
	require.Nil(t, r.Error)
	var list map[string]any
	require.NoError(t, json.Unmarshal(r.Result, &list))
	entries, ok := list[member].([]any)
	require.True(t, ok, "%s", r.Result)
	return entries
}

// result returns the result of a call.
func result(t *testing.T, r testkit.MCPResult, failed bool) (out toolResult) {
	t.Helper()
	require.Nil(t, r.Error, "%+v", r.Error)
	require.NoError(t, json.Unmarshal(r.Result, &out))
	require.Equal(t, failed, out.IsError, "%s", r.Result)
	return out
}

// TestInspector runs the protocol's own debugger against the server: its lint of
// schemas, calls that succeed and fail, and both eras of revisions.
func TestInspector(t *testing.T) {
	t.Parallel()
	s := newShop(t, &mcp.Options{})
	address := serve(t, s.Registry, s.opts) + protocol.Path
	for name, tc := range map[string]struct {
		token string
		args  []string
		exit  int
		says  string
	}{
		"schemas":         {token: everything, args: []string{"--method", "tools/list", "--strict"}, says: `"order_state"`},
		"schemas, newest": {token: everything, args: []string{"--method", "tools/list", "--strict", "--protocol-era", "modern"}, says: `"order_state"`},
		"call": {
			token: everything, says: `"sent"`,
			args: []string{"--method", "tools/call", "--tool-name", "order_state", "--tool-arg", "reference=7", "--tool-arg", "id=ana"},
		},
		"failed call": {
			token: everything, exit: 5, says: "not_found",
			args: []string{"--method", "tools/call", "--tool-name", "order_state", "--tool-arg", "reference=7", "--tool-arg", "id=nobody"},
		},
		"resource": {token: everything, args: []string{"--method", "resources/read", "--uri", "shop://order/7/of/ana"}, says: "sent"},
		"no token": {args: []string{"--method", "tools/list"}, exit: 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, exit := testkit.MCPInspector(t, address, tc.token, tc.args...)
			require.Equal(t, tc.exit, exit, "%s", out)
			require.Contains(t, string(out), tc.says)
		})
	}
}
