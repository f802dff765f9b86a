//go:build unix

package main_test

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
)

// TestTypeScriptClient packs and installs the client as its README does, checks its
// tests and the programs of the README with the compiler, and runs them.
func TestTypeScriptClient(t *testing.T) {
	t.Parallel()
	guide := testkit.ReadGuide(t, "../../../clients/typescript/README.md")
	node, packages, dir := testkit.Program(t, "node"), testkit.ClientPackages(t), t.TempDir()
	testkit.Program(t, "npm")
	environ := append(os.Environ(), "PATH="+filepath.Dir(node)+":"+os.Getenv("PATH"))
	source := filepath.Join(testkit.Root(t), "clients", "typescript")
	copied := filepath.Join(dir, "trunkline", "clients", "typescript")
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join(source, "test"))))
	copyFiles(t, source, copied, "package.json", "tsconfig.json", "README.md", "src")
	copyFiles(t, testkit.Root(t), filepath.Join(dir, "trunkline"), "LICENSE", "server/testdata/openapi.json")
	require.NoError(t, os.Symlink(packages, filepath.Join(copied, "node_modules")))
	run := func(name string, args ...string) {
		t.Helper()
		c := exec.CommandContext(t.Context(), name, args...)
		c.Dir, c.Env = dir, environ
		out, err := c.CombinedOutput()
		require.NoError(t, err, "%s: %s", c, out)
	}
	run("bash", "-ec", guide.Block(t, "install", "npm ci --ignore-scripts && ", "", "/tmp", dir, "npm install", "npm install --silent --offline"))
	require.FileExists(t, filepath.Join(dir, "node_modules", "@trunklinehq", "client", "LICENSE"))
	require.NoError(t, os.Symlink(filepath.Join(packages, "@types"), filepath.Join(dir, "node_modules", "@types")))

	r, n := clientEnv(t)
	_, port, err := net.SplitHostPort(testkit.FreeAddress(t))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "example.ts"), []byte(guide.Block(t, "example", "http://localhost:3000", "http://"+n.host)), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "receiver.ts"), []byte(guide.Block(t, "receiver", "4000", port)), 0o600))
	testkit.NodeTool(t, dir, "typescript/bin/tsc", "-p", ".")
	environ = append(environ, "TRUNKLINE_URL=http://"+n.host)
	run(node, "--test", "--test-timeout=60000", "client.test.ts")

	example, receiver := exec.Command(node, "example.ts"), exec.Command(node, "receiver.ts")
	example.Dir, receiver.Dir = dir, dir
	r.clientPrograms(t, example, receiver, port)
	n.terminate(t)
}

// TestPythonClient runs the tests of the client and the programs of its README.
func TestPythonClient(t *testing.T) {
	t.Parallel()
	guide := testkit.ReadGuide(t, "../../../clients/python/README.md")
	source, dir := filepath.Join(testkit.Root(t), "clients", "python"), t.TempDir()
	r, n := clientEnv(t)
	_, port, err := net.SplitHostPort(testkit.FreeAddress(t))
	require.NoError(t, err)
	program := func(file string) *exec.Cmd {
		c := exec.CommandContext(t.Context(), testkit.Program(t, "python3"), "-u", "-B", file)
		c.Env = append(os.Environ(), "PYTHONPATH="+source, "TRUNKLINE_URL=http://"+n.host)
		return c
	}
	out, err := program(filepath.Join(source, "tests", "test_client.py")).CombinedOutput()
	require.NoError(t, err, "%s", out)

	example, receiver := filepath.Join(dir, "example.py"), filepath.Join(dir, "receiver.py")
	require.NoError(t, os.WriteFile(example, []byte(guide.Block(t, "example", "http://localhost:3000", "http://"+n.host)), 0o600))
	require.NoError(t, os.WriteFile(receiver, []byte(guide.Block(t, "receiver", "4000", port)), 0o600))
	r.clientPrograms(t, program(example), program(receiver), port)
	n.terminate(t)
}

// clientEnv starts a server for the tests of a client and signs up.
func clientEnv(t *testing.T) (*env, *node) {
	t.Helper()
	r := newEnv(t)
	n := launch(t, r.args("--data", t.TempDir())...)
	r.balancer.open(n)
	r.signUp(t)
	r.ref = int(r.call(t, 201, "POST", "/reference", `{"name":"Shop","type":"provider-sandbox"}`)["id"].(float64))
	return r, n
}

// clientPrograms runs the programs of a client's README: one that answers each
// message, and a receiver of webhooks on a port.
func (r *env) clientPrograms(t *testing.T, example, receiver *exec.Cmd, port string) {
	t.Helper()
	prints := printing(t, example, "TRUNKLINE_TOKEN="+r.token)
	prints("Shop")
	prints("waiting for messages")
	write := fmt.Sprintf("/sandbox/%d/messages", r.ref)
	r.call(t, 201, "POST", write, `{"from":"maria","type":"text","text":"Hello"}`)
	prints("answered maria@sandbox: ")
	history := r.history(t, "maria@sandbox")
	require.Len(t, history, 2)
	require.Equal(t, "You wrote: Hello", history[1].Text)

	secret := "whsec_" + strings.Repeat("AAAA", 8)
	prints = printing(t, receiver, "WEBHOOK_SECRET="+secret)
	prints("waiting for events")
	r.call(t, 201, "POST", "/references/registerWebHook", fmt.Sprintf(
		`{"reference":%d,"webhook":"http://127.0.0.1:%s/","events":["message"],"secret":%q}`, r.ref, port, secret))
	r.call(t, 201, "POST", write, `{"from":"maria","type":"text","text":"Bye"}`)
	prints(fmt.Sprintf("message %d", r.ref))
}

// printing starts a program, which is killed when t ends. The function that it
// returns requires that the next line begins so.
func printing(t *testing.T, c *exec.Cmd, env ...string) func(want string) {
	t.Helper()
	var stderr bytes.Buffer
	c.Env, c.Stderr = append(c.Environ(), env...), &stderr
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait() // it was killed
	})
	lines := bufio.NewScanner(out)
	return func(want string) {
		t.Helper()
		if !lines.Scan() {
			_ = c.Wait()
			require.Fail(t, "it ended", "%s", &stderr)
		}
		require.True(t, strings.HasPrefix(lines.Text(), want), "%q does not begin with %q", lines.Text(), want)
	}
}

// copyFiles copies files and folders, which are named relative to both folders.
func copyFiles(t *testing.T, from, to string, names ...string) {
	t.Helper()
	for _, name := range names {
		path := filepath.Join(from, filepath.FromSlash(name))
		info, err := os.Stat(path)
		require.NoError(t, err)
		target := filepath.Join(to, filepath.FromSlash(name))
		if info.IsDir() {
			require.NoError(t, os.CopyFS(target, os.DirFS(path)))
			continue
		}
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(filepath.Dir(target), 0o700))
		require.NoError(t, os.WriteFile(target, b, 0o600))
	}
}

// TestCloudAPIClients runs libraries that were written for Meta's Cloud API, with the
// programs of the guide.
func TestCloudAPIClients(t *testing.T) {
	t.Parallel()
	guide := testkit.ReadGuide(t, "../../../docs/from-cloud-api.md")
	node, packages, dir := testkit.Program(t, "node"), testkit.ClientPackages(t), t.TempDir()
	require.NoError(t, os.Symlink(packages, filepath.Join(dir, "node_modules")))
	r, n := clientEnv(t)
	reference, base := fmt.Sprint(r.ref), "http://"+n.host
	r.call(t, 201, "POST", fmt.Sprintf("/sandbox/%d/messages", r.ref), `{"from":"16505551234","type":"text","text":"Hello?"}`)
	run := func(c *exec.Cmd) string {
		t.Helper()
		c.Dir, c.Env = dir, append(os.Environ(), "TOKEN="+r.token)
		var errors strings.Builder
		c.Stderr = &errors
		out, err := c.Output()
		require.NoError(t, err, "%s: %s", c, &errors)
		return strings.TrimSpace(string(out))
	}
	var answer struct{ Messages []struct{ ID string } }
	curl := exec.CommandContext(t.Context(), "bash", "-ec", guide.Block(t, "curl", "localhost:3000/v23.0/1", n.host+"/v23.0/"+reference))
	require.NoError(t, json.Unmarshal([]byte(run(curl)), &answer))
	sent := []string{answer.Messages[0].ID}
	for _, name := range []string{"kapso", "great-detail"} {
		file := filepath.Join(dir, name+".mjs")
		require.NoError(t, os.WriteFile(file, []byte(guide.Block(t, name, `: "1"`, `: "`+reference+`"`, "http://localhost:3000", base)), 0o600))
		sent = append(sent, run(exec.CommandContext(t.Context(), node, file)))
	}
	var stored []string
	for _, m := range r.history(t, "16505551234@sandbox")[1:] {
		require.Equal(t, "Hello", m.Text)
		stored = append(stored, m.ID)
	}
	require.Equal(t, sent, stored)

	file := filepath.Join(dir, "all.mjs")
	require.NoError(t, os.WriteFile(file, []byte(cloudAPIProgram), 0o600))
	_, port, err := net.SplitHostPort(testkit.FreeAddress(t))
	require.NoError(t, err)
	const secret = "the secret of an app at Meta"
	hook := exec.CommandContext(t.Context(), "bash", "-ec", "APP_SECRET='"+secret+"'\n"+
		guide.Block(t, "webhook", `"reference": 1`, `"reference": `+reference, "https://example.org/meta", "http://127.0.0.1:"+port+"/", "localhost:3000", n.host))
	require.Contains(t, run(hook), `"format":"cloud"`)
	require.Equal(t, "done", run(exec.CommandContext(t.Context(), node, file, base, reference, port, secret)))
	n.terminate(t)
}

// cloudAPIProgram calls what two libraries have for messages and files.
//
//go:embed testdata/cloudapi.mjs
var cloudAPIProgram string
