package archtest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Limits of types, folders and files.
const (
	maxMethods = 40  // of a type, those of embedded types not counted
	maxFiles   = 40  // of a folder, tests not counted
	maxLines   = 400 // of a file, tests not counted
)

// TestSize counts the methods of types, the files of folders and the lines of
// files. Generated files do not count.
func TestSize(t *testing.T) {
	t.Parallel()
	methods, files, lines := map[string]int{}, map[string]int{}, map[string]int{}
	walk(t, ".go", func(file, text string) {
		if strings.HasSuffix(file, "_test.go") {
			return
		}
		folder := path.Dir(file)
		parsed, err := parser.ParseFile(token.NewFileSet(), file, text, parser.ParseComments|parser.SkipObjectResolution)
		require.NoError(t, err)
		if ast.IsGenerated(parsed) {
			return
		}
		files[folder]++
		lines[file] = strings.Count(text, "\n")
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil {
				methods[folder+" "+receiver(f.Recv.List[0].Type)]++
			}
		}
	})
	checkLimit(t, "methods", methods, maxMethods)
	checkLimit(t, "files", files, maxFiles)
	checkLimit(t, "lines", lines, maxLines)
}

// receiver returns the name of the type of a receiver.
func receiver(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.StarExpr:
		return receiver(x.X)
	case *ast.IndexExpr:
		return receiver(x.X)
	case *ast.IndexListExpr:
		return receiver(x.X)
	case *ast.Ident:
		return x.Name
	}
	return ""
}

// checkLimit compares counts with a limit.
func checkLimit(t *testing.T, what string, counts map[string]int, limit int) {
	t.Helper()
	for name, n := range counts {
		assert.LessOrEqualf(t, n, limit, "%s has too many %s: split it by subject", name, what)
	}
}
