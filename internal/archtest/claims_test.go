package archtest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// marked is a block of code and the name in the marker before it, if any.
var marked = regexp.MustCompile("(?ms)(?:^<!-- run:([\\w.-]+) -->\n\\s*)?^[ \t]*```(\\w*)\n(.*?)^[ \t]*```[ \t]*$")

// unclaimed are the blocks that no test runs, by the document and how they begin,
// and why.
var unclaimed = map[string]string{
	"examples/multinode/README.md: TRUNKLINE_SECRET=": "needs containers; TestMultinode reads the file and starts a node with its settings",

	"docs/agents.md: claude mcp add ": "needs Claude Code; the address and the header are those of the files below it, which are tried",
}

// TestBlocksAreClaimed checks that a test keeps every code block of the documents
// correct: a test that names the document and the block's marker; a compiled file
// with the same text; or, for lines of the Makefile and names of tests,
// [TestSnippetsAreWellFormed] and [TestTestsThatAreRun]. Blocks without a language,
// or of "text" without a marker, are pictures.
func TestBlocksAreClaimed(t *testing.T) {
	t.Parallel()
	all := documents(t)
	claims, code := claimed(t, all), compiled(t)
	left := map[string]bool{}
	for doc, text := range all {
		for _, m := range marked.FindAllStringSubmatch(text, -1) {
			name, language, block := m[1], m[2], m[3]
			switch {
			case name != "":
				assert.Truef(t, claims[doc][name], "no test reads %s and its block %q", doc, name)
			case language == "" || language == "text" || language == "mermaid": // mermaid: [TestGraphIsDrawn]
			case language == "go" && strings.Contains(code, unindented(block)):
			case language == "sh" && known(block):
			default:
				reason := ""
				for beginning, why := range unclaimed {
					if strings.HasPrefix(doc+": "+block, beginning) {
						reason, left[beginning] = why, true
					}
				}
				assert.NotEmptyf(t, reason, "no test runs, compiles or reads this of %s:\n%s", doc, block)
			}
		}
	}
	for beginning := range unclaimed {
		assert.Truef(t, left[beginning], "there is no %q any more", beginning)
	}
}

// claimed returns the names of blocks that tests have as literals, by the documents
// that they have too: as a path from their folder, in one piece or two.
func claimed(t *testing.T, all map[string]string) map[string]map[string]bool {
	t.Helper()
	claims := map[string]map[string]bool{}
	walk(t, "_test.go", func(file, text string) {
		if !strings.Contains(text, ".md") && !strings.Contains(text, "ReadExample") {
			return
		}
		literals := literals(t, file, text)
		for doc := range documentsOf(path.Dir(file), literals, all) {
			if claims[doc] == nil {
				claims[doc] = map[string]bool{}
			}
			for literal := range literals {
				claims[doc][literal] = true
			}
		}
	})
	return claims
}

// documentsOf returns the documents that literals name from a folder.
func documentsOf(folder string, literals map[string]bool, all map[string]string) map[string]bool {
	docs := map[string]bool{}
	for name := range literals {
		if !strings.HasSuffix(name, ".md") {
			continue
		}
		candidates := []string{path.Join(folder, name)}
		for before := range literals {
			if strings.HasSuffix(before, "/") {
				candidates = append(candidates, path.Join(folder, before+name))
			}
		}
		for _, doc := range candidates {
			if _, ok := all[doc]; ok {
				docs[doc] = true
			}
		}
	}
	return docs
}

// literals returns the strings in a file. ReadExample of testkit reads the README of
// its test's folder.
func literals(t *testing.T, file, text string) map[string]bool {
	t.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution)
	require.NoError(t, err)
	all := map[string]bool{}
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			if s, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil {
				all[s] = true
			}
		case *ast.SelectorExpr:
			if n.Sel.Name == "ReadExample" {
				all["README.md"] = true
			}
		}
		return true
	})
	return all
}

// compiled returns all Go of the repository, without its indentation.
func compiled(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	walk(t, ".go", func(_, text string) { all.WriteString(unindented(text)) })
	return all.String()
}

// unindented is code without the tabs before its lines, between two line feeds.
func unindented(code string) string {
	var b strings.Builder
	b.WriteString("\n")
	for line := range strings.Lines(code) {
		b.WriteString(strings.TrimLeft(line, "\t"))
	}
	return b.String()
}

var goTest = regexp.MustCompile(`^(?:\w+=\S+ )*(?:make [a-z-]+|go test .*)$`)

// known reports whether a block consists of goals of the Makefile and of tests.
func known(block string) bool {
	for line := range strings.Lines(block) {
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line != "" && !goTest.MatchString(line) {
			return false
		}
	}
	return true
}
