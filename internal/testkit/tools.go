package testkit

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Program returns the path of a program that is not written in Go, such as "node",
// "python3" or "ffmpeg": that of internal/tools/package.json, or else that of the
// machine. Without it the test is skipped, or fails if CI=true.
func Program(t testing.TB, name string) string {
	t.Helper()
	own := filepath.Join(Root(t), "internal", "tools", "node_modules", ".bin", name)
	if _, err := os.Stat(own); err == nil {
		return own
	}
	path, err := exec.LookPath(name)
	if err != nil {
		Missing(t, name+" is not installed: what needs it is not checked")
	}
	return path
}

// NodeModules returns the folder with the packages of internal/tools/package.json.
// Without it the test is skipped, or fails if CI=true.
func NodeModules(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(Root(t), "internal", "tools", "node_modules")
	if _, err := os.Stat(dir); err != nil {
		Missing(t, "internal/tools/node_modules is missing, run npm ci there: what needs it is not checked")
	}
	return dir
}

// Root returns the folder of this repository.
func Root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	require.NoError(t, err)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		require.NotEqual(t, dir, parent, "there is no go.mod above the test")
		dir = parent
	}
}
