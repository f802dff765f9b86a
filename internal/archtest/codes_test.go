package archtest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// indexed matches the codes of a row of docs/errors.md.
var indexed = regexp.MustCompile("(?m)^\\| ((?:`[a-z0-9_.]+`(?:, )?)+) \\|")

// Every code of an error is in the index, and the index has no other codes.
// "unknown.*" counts as found where the part after the dot is appended.
func TestCodesAreIndexed(t *testing.T) {
	t.Parallel()
	all := collectCodes(t)
	found := all.found
	for code, where := range all.listed {
		assert.NotEmptyf(t, found[code], "a node of %s says that it fails with %s, which nothing gives", where, code)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "errors.md"))
	require.NoError(t, err)
	known := map[string]bool{}
	for _, row := range indexed.FindAllStringSubmatch(string(page), -1) {
		for code := range strings.SplitSeq(row[1], ", ") {
			code = strings.Trim(code, "`")
			family, _, _ := strings.Cut(code, ".")
			known[code], known[family+".*"] = true, true
			assert.Truef(t, found[code] != "" || found[family+".*"] != "", "docs/errors.md explains %s, which nothing gives", code)
		}
	}
	require.NotEmpty(t, known)
	for code, where := range found {
		assert.Truef(t, known[code], "docs/errors.md must explain %s, of %s", code, where)
	}
}

// noCodes are folders whose codes no user reads: fakes for tests, programs
// that only read codes, and what is not Go of ours.
var noCodes = []string{
	"examples", "internal", "provider/graph/graphtest", "provider/web/webtest", "provider/providertest", "aiflow/llm/llmtest",
	"aiflow/llm/modeltest", "aiflow/flow/runtime/runtimetest", "server/client", "server/cmd", "server/panel",
}

var (
	codeName = regexp.MustCompile(`^([cC]ode([A-Z].*)?|ErrorCode)$`)
	codeText = regexp.MustCompile(`^[a-z0-9]+([_.][a-z0-9]+)*$`)
)

// codes finds the codes of errors in the source: constants named Code… or of
// a type named …Code, values of members Code and ErrorCode, what is given to
// variables named code, arguments for parameters named code, and results of
// that name.
type codes struct {
	files  map[string][]*ast.File // by folder
	consts map[string]string      // by folder and name
	params map[string][]int       // by folder and name of a function: which are codes
	found  map[string]string      // code → where
	listed map[string]string      // what nodes of flows say that they fail with → where
}

func collectCodes(t *testing.T) codes {
	t.Helper()
	c := codes{map[string][]*ast.File{}, map[string]string{}, map[string][]int{}, map[string]string{}, map[string]string{}}
	c.parse(t)
	for dir, files := range c.files {
		for _, f := range files {
			ast.Inspect(f, func(n ast.Node) bool { c.declared(dir, n); return true })
		}
	}
	for dir, files := range c.files {
		for _, f := range files {
			ast.Inspect(f, func(n ast.Node) bool { c.used(dir, n); return true })
		}
	}
	return c
}

func (c *codes) parse(t *testing.T) {
	t.Helper()
	fset := token.NewFileSet()
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(root, path)
		rel = filepath.ToSlash(rel)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (below(rel, noCodes...) || strings.HasPrefix(d.Name(), ".") && rel != "." || d.Name() == "node_modules" || d.Name() == "testdata"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(rel, ".go") || strings.HasSuffix(rel, "_test.go"):
			return nil
		}
		f, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		c.files[filepath.Dir(rel)] = append(c.files[filepath.Dir(rel)], f)
		return err
	}))
}

// declared takes notice of constants and of functions that take codes.
func (c *codes) declared(dir string, n ast.Node) {
	switch n := n.(type) {
	case *ast.ValueSpec:
		kind, _ := n.Type.(*ast.Ident)
		for i, name := range n.Names {
			if i >= len(n.Values) {
				continue
			}
			if text, ok := literal(n.Values[i]); ok {
				c.consts[dir+"."+name.Name] = text
				if codeName.MatchString(name.Name) || kind != nil && strings.HasSuffix(kind.Name, "Code") {
					c.take(dir, n.Values[i])
				}
			}
		}
	case *ast.FuncDecl:
		at := 0
		for _, p := range n.Type.Params.List {
			for _, name := range p.Names {
				if name.Name == "code" {
					c.params[dir+"."+n.Name.Name] = append(c.params[dir+"."+n.Name.Name], at)
				}
				at++
			}
		}
		if r := n.Type.Results; r != nil && len(r.List) > 0 && len(r.List[0].Names) > 0 && r.List[0].Names[0].Name == "code" {
			ast.Inspect(n.Body, func(x ast.Node) bool {
				if ret, ok := x.(*ast.ReturnStmt); ok && len(ret.Results) > 0 {
					c.take(dir, ret.Results[0])
				}
				return true
			})
		}
	}
}

// used takes the codes of a use.
func (c *codes) used(dir string, n ast.Node) {
	switch n := n.(type) {
	case *ast.KeyValueExpr:
		if key, ok := n.Key.(*ast.Ident); ok && codeName.MatchString(key.Name) {
			c.take(dir, n.Value)
		}
		if list, is := n.Value.(*ast.CompositeLit); is && nameOf(n.Key) == "Errors" {
			for _, x := range list.Elts {
				if code, ok := literal(x); ok {
					c.listed[code] = dir
				}
			}
		}
	case *ast.AssignStmt:
		for i, left := range n.Lhs {
			if len(n.Lhs) == len(n.Rhs) && codeName.MatchString(nameOf(left)) {
				c.take(dir, n.Rhs[i])
			}
		}
	case *ast.CompositeLit:
		if slices.Contains([]string{"Failure", "SessionError"}, nameOf(n.Type)) && len(n.Elts) > 0 {
			c.take(dir, n.Elts[0])
		}
	case *ast.CallExpr:
		params := c.params[dir+"."+nameOf(n.Fun)]
		if dir == "aiflow/flow/node" && params == nil { // what it checks is reported by the package below
			params = c.params["aiflow/flow."+nameOf(n.Fun)]
		}
		for _, at := range params {
			if at < len(n.Args) {
				c.take(dir, n.Args[at])
			}
		}
	}
}

// take notes the codes that an expression may be.
func (c *codes) take(dir string, x ast.Expr) {
	text, ok := literal(x)
	switch x := x.(type) {
	case *ast.Ident:
		text, ok = c.consts[dir+"."+x.Name]
	case *ast.CallExpr:
		for _, arg := range x.Args {
			if nameOf(x.Fun) == "Or" { // of cmp
				c.take(dir, arg)
			}
		}
	case *ast.BinaryExpr: // a family and a name
		if family, is := literal(x.X); is && strings.HasSuffix(family, ".") {
			c.found[family+"*"] = dir
		}
	}
	if ok && codeText.MatchString(text) && (strings.ContainsAny(text, ".") || text == "internal" || !below(dir, "aiflow", "botengine")) {
		c.found[text] = dir // those of flows have a dot
	}
}

func nameOf(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		return x.Sel.Name
	}
	return ""
}

func literal(x ast.Expr) (string, bool) {
	l, ok := x.(*ast.BasicLit)
	if !ok || l.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(l.Value)
	return text, err == nil
}
