package testkit

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

//go:embed mcpclient.mjs
var mcpClient []byte

// An MCPTask is a list of requests for the official TypeScript client of the Model
// Context Protocol. Package is the generation of the client, "v1" or "v2". Revision
// is the revision that the second generation speaks, "" its own choice.
type MCPTask struct {
	Package  string    `json:"package"`
	Revision string    `json:"revision"`
	URL      string    `json:"url"`
	Token    string    `json:"token"`
	Steps    []MCPStep `json:"steps"`
}

// An MCPStep is one request: tools, prompts, templates, read, prompt, complete,
// call, or abandon, which disconnects after the first progress.
type MCPStep struct {
	Do     string         `json:"do"`
	Params map[string]any `json:"params,omitempty"`
}

// An MCPResult is the result of a step. If the client cannot connect there is only
// one, which is an error.
type MCPResult struct {
	Result   json.RawMessage
	Error    *struct{ Name, Message string }
	Progress []struct {
		Progress, Total float64
		Message         string
	}
}

// Run runs the client and returns the revision that it used.
func (task MCPTask) Run(t testing.TB) (revision string, results []MCPResult) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.Symlink(NodeModules(t), filepath.Join(dir, "node_modules")))
	script := filepath.Join(dir, "client.mjs")
	require.NoError(t, os.WriteFile(script, mcpClient, 0o600))
	input, err := json.Marshal(task)
	require.NoError(t, err)

	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, Program(t, "node"), script)
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(input), &stderr
	out, err := cmd.Output()
	require.NoError(t, err, "%s%s", out, &stderr)
	var answer struct {
		Revision string
		Results  []MCPResult
	}
	require.NoError(t, json.Unmarshal(out, &answer), "%s", out)
	return answer.Revision, answer.Results
}

// MCPInspector runs the command line of the protocol's Inspector against the server
// at address. It returns the output, which is JSON, and the exit code.
func MCPInspector(t testing.TB, address, token string, args ...string) (out []byte, exit int) {
	t.Helper()
	args = append([]string{inspector(t), address, "--transport", "http", "--format", "json", "-q", "--stored-auth-only"}, args...)
	if token != "" {
		args = append(args, "--header", "Authorization: Bearer "+token)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, Program(t, "node"), args...)
	home := t.TempDir() // for its servers and tokens
	cmd.Env = append(os.Environ(), "HOME="+home, "MCP_CATALOG_PATH="+filepath.Join(home, "mcp.json"))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() < 0 {
		require.NoError(t, err, "%s", &stderr)
	}
	if len(out) == 0 {
		out = stderr.Bytes()
	}
	require.NotEmpty(t, out)
	return out, cmd.ProcessState.ExitCode()
}

// MCPInspectorCommand returns the same command for a [Shell], without arguments,
// and the environment that it needs.
func MCPInspectorCommand(t testing.TB) (command string, env []string) {
	t.Helper()
	home := t.TempDir()
	return Program(t, "node") + " " + inspector(t), []string{"HOME=" + home, "MCP_CATALOG_PATH=" + filepath.Join(home, "mcp.json")}
}

// inspector returns the path of the command's script; under any other name the
// script does nothing.
func inspector(t testing.TB) string {
	t.Helper()
	script, err := filepath.EvalSymlinks(
		filepath.Join(NodeModules(t), "@modelcontextprotocol", "inspector", "clients", "cli", "build", "index.js"))
	require.NoError(t, err)
	return script
}
