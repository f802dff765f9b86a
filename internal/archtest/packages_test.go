package archtest_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	module = "github.com/trunklinehq/trunkline"
	root   = "../.."
)

// pkg is what "go list" says of a package: what its production code imports
// directly, and what that needs in all.
type pkg struct {
	ImportPath   string
	Name         string
	Doc          string
	Standard     bool
	Export       string // with -export: the file with what it exports
	Module       *struct{ Path string }
	Imports      []string
	TestImports  []string
	XTestImports []string
	Deps         []string
}

// ours returns the path of a package of this module below the module's own, and
// "" for any other.
func ours(path string) string {
	rest, _ := strings.CutPrefix(path, module+"/")
	if rest == path {
		return ""
	}
	return rest
}

// load lists the packages of this module with all they depend on, by path.
func load(t *testing.T, args ...string) map[string]pkg {
	t.Helper()
	touch(t)
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list", "-json", "-deps"}, append(args, "./...")...)...)
	cmd.Dir = root
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, "listing packages: %s", &stderr)

	found := map[string]pkg{}
	for dec := json.NewDecoder(strings.NewReader(string(out))); dec.More(); {
		var p pkg
		require.NoError(t, dec.Decode(&p))
		found[p.ImportPath] = p
	}
	return found
}

// touch looks at every Go file, so that a cached result of these tests, which
// read the files through another process, ends when one of them changes.
func touch(t *testing.T) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && (strings.HasSuffix(path, ".go") || d.Name() == "go.mod") {
			_, err = os.Stat(path)
		}
		return err
	}))
}

// below reports whether path is, or lies under, one of the folders.
func below(path string, folders ...string) bool {
	return slices.ContainsFunc(folders, func(f string) bool {
		return path == f || strings.HasPrefix(path, f+"/")
	})
}

// needs reports whether the package depends on one in the folder, over all its
// dependencies.
func (p pkg) needs(folder string) bool {
	return slices.ContainsFunc(p.Deps, func(dep string) bool { return below(dep, folder) })
}
