//go:build unix

package main_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
)

// following is a server on which the lines of the README have been run, and the
// shell in which they were. local puts its address in the place of the README's.
type following struct {
	*testkit.Shell
	node  *node
	data  string
	local func(string) string
}

// follow runs the first lines of the README, from which other guides continue.
func follow(t *testing.T, args ...string) *following {
	t.Helper()
	f := &following{data: t.TempDir()}
	f.node = launch(t, append([]string{"--data", f.data}, args...)...) // it may have to be built, for longer than a shell lives
	f.Shell = startShell(t)
	f.local = replace(t, "localhost:3000", f.node.host)
	f.Run(t, f.local(testkit.ReadGuide(t, readme).Block(t, "first-message")))
	f.Run(t, "BASE=http://"+f.node.host+" PATH="+filepath.Dir(binary(t, "trunkline"))+":$PATH")
	return f
}

// until repeats lines until they print what is wanted.
func (f *following) until(t *testing.T, lines, want string) {
	t.Helper()
	for begin := time.Now(); ; {
		out := strings.Join(f.Run(t, lines), "\n")
		if strings.Contains(out, want) {
			return
		}
		require.Less(t, time.Since(begin), time.Minute, "%s: %s", lines, out)
	}
}

// TestAccountsGuide logs in, and sets a password as the operator does.
func TestAccountsGuide(t *testing.T) {
	t.Parallel()
	f := follow(t)
	guide := testkit.ReadGuide(t, "../../../docs/accounts.md")
	require.Contains(t, f.Run(t, guide.Block(t, "login", "ana@example.org", "ana@example.com")+"\necho")[0], `"token":"`)
	link := f.Run(t, guide.Block(t, "reset", "ana@example.org", "ana@example.com", "./trunkline-data", f.data))
	require.Len(t, link, 1)
	require.Regexp(t, `^https://chat\.example\.org/panel/reset#\S+$`, link[0])
	log := f.Run(t, testkit.ReadGuide(t, "../../../docs/audit.md").Block(t, "audit")+"\necho")
	require.Contains(t, log[0], `"action":"reference.create"`)
}

// TestExtractorsGuide makes the extractor of the guide and tries it.
func TestExtractorsGuide(t *testing.T) {
	t.Parallel()
	f := follow(t)
	out := f.Run(t, f.local(testkit.ReadGuide(t, "../../../docs/extractors.md").Block(t, "order")))
	require.Len(t, out, 1)
	require.Contains(t, out[0], `{"values":{"order":17},"matches":[`)
}

// TestAssistantsGuide makes the clerk of the guide, and asks him.
func TestAssistantsGuide(t *testing.T) {
	t.Parallel()
	f := follow(t)
	guide := testkit.ReadGuide(t, "../../../docs/assistants.md")
	for _, name := range []string{"house", "clerk"} {
		f.Run(t, "cat >"+name+".json <<'END'\n"+guide.Block(t, name)+"END\n")
	}
	talk := strings.Split(strings.TrimSpace(f.local(guide.Block(t, "talk"))), "\n")
	f.Run(t, strings.Join(talk[:len(talk)-1], "\n"))
	f.until(t, talk[len(talk)-1], "Breakfast is served from seven to ten")
}

// TestRollupGuide asks what models cost.
func TestRollupGuide(t *testing.T) {
	t.Parallel()
	f := follow(t)
	out := f.Run(t, testkit.ReadGuide(t, "../../../docs/usage.md").Block(t, "rollup")+"\necho")
	require.Contains(t, out[0], `"truncated":false`)
}

// TestWebhooksGuide starts the receiver of the guide, which gets an event for the
// next message. A test of package webhook runs its programs.
func TestWebhooksGuide(t *testing.T) {
	t.Parallel()
	f := follow(t, "--webhook-allow", "127.0.0.1/32")
	addr := testkit.FreeAddress(t)
	f.Send(t, f.local(testkit.ReadGuide(t, "../../../docs/webhooks.md").Block(t, "receiver",
		"go run ./examples/webhookreceiver", binary(t, "webhookreceiver")+" -addr "+addr, "127.0.0.1:4000", addr)))
	require.Contains(t, f.Line(t), addr, "the endpoint")
	f.Send(t, "api "+f.node.host+`/sandbox/1/messages -d '{"from":"maria","type":"text","text":"And tomorrow?"}' >/dev/null`+"\n")
	received := ""
	for !strings.Contains(received, "And tomorrow?") {
		received += f.Line(t) + "\n"
	}
	require.Regexp(t, `(?s)status \d+: [^\n]*"status":"READ".*message \d+: [^\n]*"text":"And tomorrow\?"`, received, "who writes has read the answer")
}

// TestOperationsGuide executes the commands of the operator while the server runs.
// Passwords are typed; backups are in another folder.
func TestOperationsGuide(t *testing.T) {
	t.Parallel()
	f := follow(t)
	guide := testkit.ReadGuide(t, "../../../docs/operations.md")
	f.Run(t, "export TRUNKLINE_DATA="+f.data+" TRUNKLINE_ADDR="+f.node.host)
	out := strings.Join(f.Run(t, strings.TrimSpace(guide.Block(t, "doctor"))+" || [ $? = 1 ] # what is bad may be this machine"), "\n")
	require.Regexp(t, `(?m)^ok +.*database`, out)

	var printed []string
	for line := range strings.Lines(guide.Block(t, "users")) {
		printed = append(printed, f.Run(t, strings.TrimSpace(line)+" <<<'a long password'")...)
	}
	all := strings.Join(printed, "\n")
	require.Contains(t, all, "ana@example.com", "who signed up is listed")
	require.Contains(t, all, "Created ana@example.org in account ")
	require.Contains(t, all, "/panel/reset#")

	copied, restored := filepath.Join(t.TempDir(), "monday.trunkline"), t.TempDir()
	f.Run(t, guide.Block(t, "backup", "/backups/monday.trunkline", copied, "/var/lib/new", restored))
	require.FileExists(t, copied)
	require.FileExists(t, filepath.Join(restored, "trunkline.db"))
}

// TestTypesGuide makes the types of TypeScript from a server that runs, with the
// panel's own openapi-typescript.
func TestTypesGuide(t *testing.T) {
	t.Parallel()
	f := follow(t)
	tools := filepath.Join(testkit.Root(t), "server", "panel", "node_modules", ".bin")
	types := f.local(testkit.ReadGuide(t, "../../../docs/client.md").Block(t, "types",
		"npx openapi-typescript", testkit.Program(t, "node")+" "+tools+"/openapi-typescript", "npm install openapi-fetch\n", ""))
	f.Run(t, types)
	made := strings.Join(f.Run(t, "cat schema.d.ts"), "\n")
	require.Contains(t, made, `"/chats/send": {`)
}
