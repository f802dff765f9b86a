package testkit

import (
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Guide has the runnable blocks of a document by name.
type Guide map[string]string

// ReadGuide reads a document with [Blocks].
func ReadGuide(t testing.TB, path string) Guide {
	t.Helper()
	blocks, err := Blocks(path)
	require.NoError(t, err)
	return blocks
}

// Block returns the block with a name. For each of pairs it replaces the first
// text, which must occur, by the second.
func (g Guide) Block(t testing.TB, name string, pairs ...string) string {
	t.Helper()
	block, ok := g[name]
	require.True(t, ok, "no block is named %q", name)
	for i := 0; i < len(pairs); i += 2 {
		require.Contains(t, block, pairs[i])
		block = strings.ReplaceAll(block, pairs[i], pairs[i+1])
	}
	return block
}

var goRun = regexp.MustCompile(`go run (\./examples/(\w+))`)

// ReadExample reads the README of the example whose test this is. It replaces "go
// run ./examples/NAME" by the built program.
func ReadExample(t testing.TB) Guide {
	t.Helper()
	g := ReadGuide(t, "README.md")
	folders := map[string]bool{}
	for _, block := range g {
		for _, m := range goRun.FindAllStringSubmatch(block, -1) {
			folders[m[1]] = true
		}
	}
	built := Build(t, slices.Sorted(maps.Keys(folders))...)
	for name, block := range g {
		g[name] = goRun.ReplaceAllString(block, filepath.ToSlash(built)+"/${2}")
	}
	return g
}

// Build builds the commands in folders of the repository, which are relative to its
// root, and returns the folder of the binaries.
func Build(t testing.TB, folders ...string) string {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"build", "-o", dir + string(filepath.Separator)}, folders...)...)
	cmd.Dir = Root(t)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return dir
}
