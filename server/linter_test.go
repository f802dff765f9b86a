package server_test

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/server"
)

// TestLinter has a strict linter read the document. It must not even warn.
func TestLinter(t *testing.T) {
	t.Parallel()
	config, err := filepath.Abs(filepath.Join("testdata", "redocly.yaml"))
	require.NoError(t, err)
	linter := filepath.Join(testkit.NodeModules(t), "@redocly", "cli", "bin", "cli.js")
	f := setup(t, func(c *server.Config) { c.BaseURL = "https://trunkline.internal" })
	document := filepath.Join(t.TempDir(), "openapi.json")
	require.NoError(t, os.WriteFile(document, f.do(t, http.MethodGet, "/swagger/openapi.json", "").Body.Bytes(), 0o600))

	c := exec.CommandContext(t.Context(), testkit.Program(t, "node"), linter, "lint", "--config", config, "--format", "json", "--max-problems", "40", document)
	c.Env = append(os.Environ(), "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true")
	out, err := c.Output()
	var said struct {
		Problems []struct {
			RuleID, Severity, Message string
			Location                  []struct{ Pointer string }
		}
	}
	require.NoError(t, json.Unmarshal(out, &said), "%v: %s", err, out)
	for _, p := range said.Problems {
		t.Errorf("%s at %v: %s", p.RuleID, p.Location, p.Message)
	}
	require.NoError(t, err)
}
