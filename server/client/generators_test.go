package client_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
)

// TestGenerators has others' generators make clients from the document, without
// options, and compiles what they write. TestTypeScriptClient of the command does so
// for openapi-typescript.
func TestGenerators(t *testing.T) {
	t.Parallel()
	document, err := filepath.Abs(filepath.Join("..", "testdata", "openapi.json"))
	require.NoError(t, err)
	t.Run("oapi-codegen", func(t *testing.T) {
		t.Parallel()
		dir, module := t.TempDir(), filepath.Join(testkit.Root(t), "internal", "tools", "oapicodegen")
		for _, name := range []string{"go.mod", "go.sum"} {
			b, err := os.ReadFile(filepath.Join(module, name))
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), b, 0o600))
		}
		runIn(t, dir, "go", "tool", "oapi-codegen", "-generate", "types,client", "-package", "client", "-o", "client.go", document)
		runIn(t, dir, "go", "vet", "-atomic", "./...") // checks the types, and takes half as long as a build
	})
	t.Run("openapi-ts", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		testkit.NodeTool(t, dir, "@hey-api/openapi-ts/bin/run.js", "-i", document, "-o", "client", "--no-log-file")
		compile(t, dir)
	})
}

// compile checks the TypeScript in a folder as strictly as the compiler can without
// options that are a matter of style.
func compile(t *testing.T, dir string) {
	t.Helper()
	var sources []string
	require.NoError(t, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if strings.HasSuffix(path, ".ts") {
			sources = append(sources, path)
		}
		return err
	}))
	require.NotEmpty(t, sources)
	options := []string{"--noEmit", "--strict", "--target", "es2023", "--lib", "es2023,dom,dom.iterable", "--module", "esnext", "--moduleResolution", "bundler"}
	testkit.NodeTool(t, dir, "typescript/bin/tsc", append(options, sources...)...)
}

// runIn runs a program in a folder. It must succeed.
func runIn(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), name, args...)
	c.Dir = dir
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s: %s", c, out)
}
