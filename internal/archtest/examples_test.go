package archtest_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// unshown have no example, for a reason.
var unshown = map[string]string{
	"aiflow/flow/runtime/runtimetest": "a suite for tests, which takes a *testing.T",
	"aiflow/llm/modeltest":            "a suite for tests, which takes a *testing.T",
	"provider/providertest":           "a suite for tests, which takes a *testing.T",
}

// TestPackagesAreExplained requires that a public package has documentation of more
// than a sentence, and an example whose output is tested.
func TestPackagesAreExplained(t *testing.T) {
	t.Parallel()
	each(t, load(t), func(t *testing.T, name string, p pkg) {
		if p.Name == "main" || below(name, "internal", "examples") || strings.Contains(name, "/internal/") {
			return
		}
		dir := filepath.Join(root, filepath.FromSlash(name))
		text, examples := explained(t, dir)
		assert.Containsf(t, text, "\n\n", "%s: its documentation is one paragraph", name)
		shown := slices.ContainsFunc(examples, func(e *doc.Example) bool { return e.Output != "" })
		assert.NotEqualf(t, unshown[name] != "", shown, "%s: an Example with an Output, or a reason why there is none", name)
	})
}

// explained returns the documentation of the package in a folder, and its examples.
func explained(t *testing.T, dir string) (text string, examples []*doc.Example) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	var tests []*ast.File
	for _, path := range paths {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
		require.NoError(t, err)
		if strings.HasSuffix(path, "_test.go") {
			tests = append(tests, f)
		} else if f.Doc != nil {
			text += f.Doc.Text()
		}
	}
	return text, doc.Examples(tests...)
}
