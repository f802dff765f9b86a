package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// vagueWords hide who acts: a comment names the caller, the user, the contact or
// the server, and says "again" for "anew".
var vagueWords = regexp.MustCompile(`(?i)\b(?:whoever|nobody|somebody|anew)\b`)

// vagueAllowed are the lines of comments in which such a word is a name.
var vagueAllowed = []string{
	"[Nobody]",       // the constant of package audit
	"nobody@…",       // an address
	"nobody account", // the account of Unix
}

// TestProse finds vague words in comments of the product.
func TestProse(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	require.NoError(t, filepath.WalkDir("../..", func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && slices.Contains([]string{"node_modules", "testdata", ".git"}, e.Name()) {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if ast.IsGenerated(file) {
			return nil
		}
		for _, group := range file.Comments {
			for _, comment := range group.List {
				for i, line := range strings.Split(comment.Text, "\n") {
					word := vagueWords.FindString(line)
					if word == "" {
						continue
					}
					allowed := slices.IndexFunc(vagueAllowed, func(s string) bool { return strings.Contains(line, s) })
					if allowed >= 0 {
						used[vagueAllowed[allowed]] = true
						continue
					}
					t.Errorf("%s:%d: say who acts instead of %q", path, set.Position(comment.Pos()).Line+i, word)
				}
			}
		}
		return nil
	}))
	for _, s := range vagueAllowed {
		if !used[s] {
			t.Errorf("no comment has %q any more: remove it from the list", s)
		}
	}
}
