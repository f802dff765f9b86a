package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
)

// agents starts a server with one user and returns its address and the user's
// token.
func agents(t *testing.T, args ...string) (base, token string) {
	t.Helper()
	_, base = start(t, nil, append([]string{"--data", t.TempDir()}, args...)...)
	status, session := post(t, base+"/user/signup", account)
	require.Equal(t, 201, status)
	return base, session["token"].(string)
}

// TestMCPConformance has the official suite judge a server as it is started,
// behind its authentication. What needs tools that no server has is named in
// the baselines; package mcp/protocol runs those.
func TestMCPConformance(t *testing.T) {
	t.Parallel()
	base, token := agents(t)
	address := testkit.BearerProxy(t, base, token) + "/mcp"
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			testkit.MCPConformance(t, address, revision, "testdata/conformance-"+revision+".yml")
		})
	}
}

// TestMCPClients has the official TypeScript clients call each of the twelve
// functions on a running server, and check results against the schemas.
func TestMCPClients(t *testing.T) {
	t.Parallel()
	base, token := agents(t)
	for name, client := range map[string]testkit.MCPTask{
		"first generation": {Package: "v1"},
		"second":           {Package: "v2"},
		"newest revision":  {Package: "v2", Revision: "2026-07-28"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ref := sandboxReference(t, base, token)
			client.URL, client.Token = base+"/mcp", token
			names, failures := callEach(t, client, ref)
			require.Len(t, names, 12)
			for fn, code := range failures { // of what does not exist
				require.Contains(t, []string{"run_flow", "set_bot_active"}, fn, code)
				require.Contains(t, []string{"not_found", "unavailable"}, code, fn)
			}
		})
	}
}

// sandboxReference returns a reference on which ana has written "Hello".
func sandboxReference(t *testing.T, base, token string) int {
	t.Helper()
	call := func(path, body string) map[string]any {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+path, strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer "+token)
		req.Header.Set("Content-Type", "application/json")
		status, out := send(t, req)
		require.Equal(t, 201, status, out)
		return out
	}
	ref := int(call("/reference", `{"name":"Shop","type":"provider-sandbox","settings":{}}`)["id"].(float64))
	call(fmt.Sprintf("/sandbox/%d/messages", ref), `{"from":"ana","type":"text","text":"Hello"}`)
	return ref
}

// callEach calls all functions, and returns the names that were listed and
// the codes of the calls that failed.
func callEach(t *testing.T, client testkit.MCPTask, ref int) (names []string, failures map[string]string) {
	t.Helper()
	chat := func(more ...any) map[string]any {
		arguments := map[string]any{"reference": ref, "chatId": "ana"}
		for i := 0; i < len(more); i += 2 {
			arguments[more[i].(string)] = more[i+1]
		}
		return arguments
	}
	calls := []struct {
		name      string
		arguments map[string]any
	}{
		{"list_references", map[string]any{"type": "provider-sandbox"}},
		{"get_reference_status", map[string]any{"reference": ref}},
		{"list_chats", map[string]any{"reference": ref, "limit": 5}},
		{"get_chat_history", chat("limit", 1)},
		{"mark_read", chat()},
		{"toggle_bot", chat("active", false)},
		{"set_variable", chat("name", "size", "value", "9007199254740993", "valueType", "number")},
		{"get_variables", chat()},
		{"send_message", chat("text", "Good morning")},
		{"list_templates", map[string]any{"reference": ref}},
		{"set_bot_active", map[string]any{"reference": ref, "botId": "0190a000-0000-7000-8000-000000000000", "active": true}},
		{"run_flow", map[string]any{"flowId": "0190a000-0000-7000-8000-000000000000"}},
	}
	client.Steps = []testkit.MCPStep{
		{Do: "tools"},
		{Do: "read", Params: map[string]any{"uri": fmt.Sprintf("trunkline://reference/%d/chat/ana", ref)}},
		{Do: "complete", Params: map[string]any{
			"ref": map[string]any{"type": "ref/prompt", "name": "answer_chat"}, "argument": map[string]any{"name": "chatId", "value": "an"},
			"context": map[string]any{"arguments": map[string]any{"reference": fmt.Sprint(ref)}},
		}},
	}
	before := len(client.Steps)
	for _, c := range calls {
		client.Steps = append(client.Steps, testkit.MCPStep{Do: "call", Params: map[string]any{"name": c.name, "arguments": c.arguments}})
	}
	_, got := client.Run(t)
	require.Len(t, got, before+len(calls))

	var list struct{ Tools []struct{ Name string } }
	require.Nil(t, got[0].Error)
	require.NoError(t, json.Unmarshal(got[0].Result, &list))
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	require.Nil(t, got[1].Error)
	require.Contains(t, string(got[1].Result), "Hello")
	require.Nil(t, got[2].Error)
	require.Contains(t, string(got[2].Result), `"values":["ana`)
	failures = map[string]string{}
	for i, c := range calls {
		require.Nil(t, got[before+i].Error, "%s: %+v", c.name, got[before+i].Error)
		var result struct {
			IsError           bool
			StructuredContent struct{ Error struct{ Code string } }
		}
		require.NoError(t, json.Unmarshal(got[before+i].Result, &result))
		if result.IsError {
			failures[c.name] = result.StructuredContent.Error.Code
		}
	}
	require.Contains(t, string(got[before+7].Result), "9007199254740993", "the text is exact")
	return names, failures
}

// TestMCPInspector has the Inspector read the schemas of the twelve as strict
// clients do, and call one with a token that may not.
func TestMCPInspector(t *testing.T) {
	t.Parallel()
	base, token := agents(t)
	out, exit := testkit.MCPInspector(t, base+"/mcp", token, "--method", "tools/list", "--strict")
	require.Zero(t, exit, "%s", out)
	out, exit = testkit.MCPInspector(t, base+"/mcp", token, "--method", "tools/call", "--tool-name", "list_chats", "--tool-arg", "reference=999")
	require.Equal(t, 5, exit, "%s", out)
	require.Contains(t, string(out), "not_found")
	out, exit = testkit.MCPInspector(t, base+"/mcp", "a-wrong-one", "--method", "tools/list")
	require.Equal(t, 3, exit, "%s", out)
}
