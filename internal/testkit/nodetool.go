package testkit

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// ClientPackages returns the folder with the packages of
// clients/typescript/package.json: the compiler of TypeScript and generators of
// clients. Without it the test is skipped, or fails if CI=true.
func ClientPackages(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(Root(t), "clients", "typescript", "node_modules")
	if _, err := os.Stat(dir); err != nil {
		Missing(t, "clients/typescript/node_modules is missing, run npm ci there: what needs it is not checked")
	}
	return dir
}

// NodeTool runs a script of the [ClientPackages] in a folder. It must succeed.
func NodeTool(t testing.TB, dir, script string, args ...string) {
	t.Helper()
	path := filepath.Join(ClientPackages(t), filepath.FromSlash(script))
	c := exec.CommandContext(t.Context(), Program(t, "node"), append([]string{path}, args...)...)
	c.Dir = dir
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s: %s", script, out)
}
