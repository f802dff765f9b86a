//go:build unix

package main_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
)

// TestAgentsGuide runs the lines of the guide for agents, after those of the
// README that it builds on, and its client in JavaScript.
func TestAgentsGuide(t *testing.T) {
	t.Parallel()
	first := testkit.ReadGuide(t, readme)
	guide := testkit.ReadGuide(t, "../../../docs/agents.md")
	n := launch(t, "--data", t.TempDir())
	inspect, env := testkit.MCPInspectorCommand(t)
	sh := testkit.NewShell(t, append(env, "TOKEN=")...)
	local := replace(t, "localhost:3000", n.host)

	sh.Run(t, local(first["first-message"]))
	token := sh.Run(t, local(guide["token"])+"\necho $AGENT")[0]
	require.Regexp(t, `^[\w-]+\.[\w-]+\.[\w-]+$`, token)

	out := sh.Run(t, local(guide["rest"]))
	require.Len(t, out, 6, "what curl answered: %s", out)
	functions, history, forbidden, dry, batch, audit := out[0], out[1], out[2], out[3], out[4], out[5]
	require.Contains(t, functions, `"count":12`)
	require.Contains(t, history, `"text":"Until nine."`)
	require.Contains(t, forbidden, `"code":"forbidden"`)
	require.Contains(t, dry, `"plan":{"allowed":true`)
	require.Regexp(t, `"name":"My first line".*"id":"maria@sandbox"`, batch)
	require.Regexp(t, `"function":"list_(chats|references)".*"outcome":"ok"`, audit)

	tools := sh.Run(t, local(guide["protocol"]))
	require.Contains(t, tools[len(tools)-1], `"name":"get_chat_history"`)
	require.NotContains(t, tools[len(tools)-1], `"name":"send_message"`, "a client sees what its token may use")

	sh.Run(t, "TRUNKLINE_TOKEN=$AGENT")
	tools = sh.Run(t, local(guide.Block(t, "inspector", "npx @modelcontextprotocol/inspector --cli", inspect)))
	require.Contains(t, strings.Join(tools, "\n"), "list_references")

	var shown, answered map[string]any
	require.NoError(t, json.Unmarshal([]byte(guide.Block(t, "answer")), &shown))
	marked := sh.Run(t, "api "+n.host+`/service-mcp/execute -d '{"function":"mark_read","arguments":{"reference":1,"chatId":"maria@sandbox"}}'`)
	require.NoError(t, json.Unmarshal([]byte(marked[0]), &answered))
	for _, each := range []map[string]any{shown, answered} {
		require.Regexp(t, `Z$`, each["timestamp"])
		require.Positive(t, each["executionTime"])
		delete(each, "timestamp")
		delete(each, "executionTime")
	}
	require.Equal(t, shown, answered)

	for _, name := range []string{"claude-code", "claude-desktop", "cursor", "vscode"} {
		address, authorization := configured(t, guide.Block(t, name), token)
		out := sh.Run(t, "curl -sS '"+local(address)+"' -H 'Content-Type: application/json' -H 'Authorization: "+authorization+
			`' -H 'Accept: application/json, text/event-stream' -d '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}'`+"\necho")
		require.Contains(t, out[len(out)-1], `"name":"get_chat_history"`, name)
	}

	t.Run("client.mjs", func(t *testing.T) {
		dir, node := t.TempDir(), testkit.Program(t, "node")
		require.NoError(t, os.Symlink(testkit.NodeModules(t), filepath.Join(dir, "node_modules")))
		script := filepath.Join(dir, "client.mjs")
		require.NoError(t, os.WriteFile(script, []byte(local(guide["client.mjs"])), 0o600))
		cmd := exec.CommandContext(t.Context(), node, script)
		cmd.Env = append(cmd.Environ(), "TRUNKLINE_TOKEN="+token, "NO_PROXY=*")
		printed, err := cmd.CombinedOutput()
		require.NoError(t, err, string(printed))
		require.Equal(t, "My first line\n", string(printed))
	})
	n.terminate(t)
}

// configured returns the address and the header that a client's file of settings
// names, with the token in the place where the client, or who writes the file,
// puts it.
func configured(t *testing.T, file, token string) (address, authorization string) {
	t.Helper()
	type settings struct {
		URL     string
		Headers map[string]string
		Command string
		Args    []string
		Env     map[string]string
	}
	var f struct {
		MCPServers, Servers map[string]settings
		Inputs              []struct{ ID string }
	}
	require.NoError(t, json.Unmarshal([]byte(file), &f))
	s, ok := f.MCPServers["trunkline"]
	if !ok {
		s = f.Servers["trunkline"]
	}
	address, authorization = s.URL, s.Headers["Authorization"]
	if s.Command == "npx" { // mcp-remote
		require.Equal(t, []string{"-y", "mcp-remote"}, s.Args[:2])
		require.Equal(t, "--header", s.Args[3])
		address, authorization = s.Args[2], strings.TrimPrefix(s.Args[4], "Authorization:")
		authorization = strings.ReplaceAll(authorization, "${AUTH}", s.Env["AUTH"])
	}
	for _, in := range f.Inputs {
		require.Contains(t, authorization, "${input:"+in.ID+"}")
	}
	placeholder := regexp.MustCompile(`\$\{(env:)?TRUNKLINE_TOKEN\}|\$\{input:trunkline\}|<token>`)
	require.Regexp(t, placeholder, authorization)
	return address, placeholder.ReplaceAllString(authorization, token)
}
