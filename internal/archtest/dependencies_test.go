package archtest_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// row matches a line of the tables of docs/dependencies.md.
var row = regexp.MustCompile("(?m)^\\| `([^`]+)` \\|")

// Every module whose packages we import must say what it saves, and the page
// must not name what we no longer use.
func TestDependenciesAreExplained(t *testing.T) {
	t.Parallel()
	documented := documentedModules(t)
	for _, m := range directModules(t) {
		assert.Containsf(t, documented, m, "docs/dependencies.md must say what %s saves", m)
	}
	required := requiredModules(t)
	for _, m := range documented {
		assert.Containsf(t, required, m, "docs/dependencies.md names %s, which go.mod does not require", m)
	}
}

func documentedModules(t *testing.T) []string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(root, "docs", "dependencies.md"))
	require.NoError(t, err)
	var names []string
	for _, m := range row.FindAllStringSubmatch(string(page), -1) {
		names = append(names, m[1])
	}
	require.NotEmpty(t, names)
	return names
}

// directModules returns the modules of the packages that our code and our tests
// import.
func directModules(t *testing.T) []string {
	t.Helper()
	all := load(t, "-test")
	var names []string
	for path, p := range all {
		if ours(path) == "" {
			continue
		}
		for _, dep := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			if m := all[dep].Module; m != nil && m.Path != module {
				names = append(names, m.Path)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func requiredModules(t *testing.T) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "mod", "edit", "-json")
	cmd.Dir = root
	out, err := cmd.Output()
	require.NoError(t, err)
	var mod struct{ Require []struct{ Path string } }
	require.NoError(t, json.Unmarshal(out, &mod))
	var names []string
	for _, r := range mod.Require {
		names = append(names, r.Path)
	}
	return names
}
