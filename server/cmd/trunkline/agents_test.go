//go:build unix

package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
)

// TestAgentsGuide runs the lines of the guide for agents, after those of the
// README that it builds on, and its client in JavaScript.
func TestAgentsGuide(t *testing.T) {
	t.Parallel()
	first, err := testkit.Blocks(readme)
	require.NoError(t, err)
	guide, err := testkit.Blocks("../../../docs/agents.md")
	require.NoError(t, err)
	n := launch(t, "--data", t.TempDir())
	sh := startShell(t)
	defer sh.end(t)
	local := replace(t, "localhost:3000", n.host)

	sh.run(t, local(first["first-message"]))
	token := sh.run(t, local(guide["token"])+"\necho $AGENT")[0]
	require.Regexp(t, `^[\w-]+\.[\w-]+\.[\w-]+$`, token)

	out := sh.run(t, local(guide["rest"]))
	require.Len(t, out, 6, "what curl answered: %s", out)
	functions, history, forbidden, dry, batch, audit := out[0], out[1], out[2], out[3], out[4], out[5]
	require.Contains(t, functions, `"count":12`)
	require.Contains(t, history, `"text":"Until nine."`)
	require.Contains(t, forbidden, `"code":"forbidden"`)
	require.Contains(t, dry, `"plan":{"allowed":true`)
	require.Regexp(t, `"name":"My first line".*"id":"maria@sandbox"`, batch)
	require.Regexp(t, `"function":"list_(chats|references)".*"outcome":"ok"`, audit)

	tools := sh.run(t, local(guide["protocol"]))
	require.Contains(t, tools[len(tools)-1], `"name":"get_chat_history"`)
	require.NotContains(t, tools[len(tools)-1], `"name":"send_message"`, "a client sees what its token may use")

	t.Run("client.mjs", func(t *testing.T) {
		dir, node := t.TempDir(), testkit.Program(t, "node")
		require.NoError(t, os.Symlink(testkit.NodeModules(t), filepath.Join(dir, "node_modules")))
		script := filepath.Join(dir, "client.mjs")
		require.NoError(t, os.WriteFile(script, []byte(local(guide["client.mjs"])), 0o600))
		cmd := exec.CommandContext(t.Context(), node, script)
		cmd.Env = append(cmd.Environ(), "TRUNKLINE_TOKEN="+token, "NO_PROXY=*")
		said, err := cmd.CombinedOutput()
		require.NoError(t, err, string(said))
		require.Equal(t, "My first line\n", string(said))
	})
	n.terminate(t)
}
