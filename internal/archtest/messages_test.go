package archtest_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// errorsPage explains errors to users.
const errorsPage = root + "/docs/errors.md"

// TestMessages compares the messages of errors that clients see with the golden, so
// that a change of the English is seen and reviewed in one place, and docs/errors.md
// with those of refusals. Parts that are known only at run time are written as "…".
func TestMessages(t *testing.T) {
	t.Parallel()
	m := messages{collectCodes(t), map[message]bool{}}
	for dir, files := range m.files {
		for _, f := range files {
			ast.Inspect(f, func(n ast.Node) bool { m.used(dir, n); return true })
		}
	}
	var golden strings.Builder
	for _, one := range slices.SortedFunc(maps.Keys(m.found), message.compare) {
		fmt.Fprintf(&golden, "%s %s: %s\n", one.dir, one.about, one.text)
	}
	require.Greater(t, len(m.found), 300)
	path := filepath.Join("testdata", "messages.txt")
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(golden.String()), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), golden.String(), "a message of an error changed: review it, then -update")
	m.guide(t)
}

// guide compares the details of docs/errors.md with the refusals that name no field.
func (m messages) guide(t *testing.T) {
	t.Helper()
	page, err := os.ReadFile(errorsPage)
	require.NoError(t, err)
	problems := regexp.MustCompile(`(?s)<!-- problems:.*<!-- /problems -->`).Find(page)
	rows := map[string]bool{}
	for one := range m.found {
		isRefusal := strings.Contains(string(problems), "\n| `"+one.about+"` |")
		if isRefusal && one.about != "internal" && !(one.about == "unsupported" && below(one.dir, "aiflow")) { // those are of runs
			rows[fmt.Sprintf("| `%s` | %s |\n", one.about, strings.ReplaceAll(one.text, "<", "&lt;"))] = true
		}
	}
	require.Greater(t, len(rows), 50)
	table := regexp.MustCompile(`(?s)(<!-- details:[^\n]*-->\n[^\n]*\n[^\n]*\n).*(<!-- /details -->)`)
	require.Regexp(t, table, string(page))
	text := strings.ReplaceAll(strings.Join(slices.Sorted(maps.Keys(rows)), ""), "$", "$$")
	want := table.ReplaceAllString(string(page), "${1}"+text+"${2}")
	if *update {
		require.NoError(t, os.WriteFile(errorsPage, []byte(want), 0o600))
		return
	}
	require.Equal(t, want, string(page), "run with -update")
}

// message is what an error says.
type message struct {
	dir   string // of the source
	about string // a field or a code
	text  string
}

func (m message) compare(with message) int {
	return strings.Compare(m.dir+" "+m.about+" "+m.text, with.dir+" "+with.about+" "+with.text)
}

// messages collects what errors say.
type messages struct {
	codes
	found map[message]bool
}

// errorTypes are the types of errors that clients see, with the member that says
// what the message is about. It may stand first without its name.
var errorTypes = map[string]string{
	"Invalid": "Field", "FieldError": "Location", "Failure": "Code", "Error": "Code", "Problem": "Code", "SessionError": "Code",
}

// errorFuncs are functions that make an error of what it is about and a message:
// the places of these among their arguments.
var errorFuncs = map[string][2]int{"New": {1, 2}, "NewProblem": {0, 1}, "Invalid": {0, 1}, "NotFoundAt": {0, 1}}

func (m messages) used(dir string, n ast.Node) {
	switch n := n.(type) {
	case *ast.CallExpr:
		at, ok := errorFuncs[nameOf(n.Fun)]
		if of, is := n.Fun.(*ast.SelectorExpr); ok && nameOf(n.Fun) == "New" {
			ok = is && nameOf(of.X) == "apierr"
		}
		if ok && len(n.Args) == at[1]+1 {
			m.take(dir, n.Args[at[0]], n.Args[at[1]])
		}
	case *ast.CompositeLit:
		about, ok := errorTypes[nameOf(n.Type)]
		parts := map[string]ast.Expr{}
		for i, x := range n.Elts {
			if pair, is := x.(*ast.KeyValueExpr); is {
				parts[nameOf(pair.Key)] = pair.Value
			} else if i < 2 {
				parts[[]string{about, "Message"}[i]] = x
			}
		}
		if ok && parts["Message"] != nil {
			m.take(dir, parts[about], parts["Message"])
		}
	}
}

const unknown = "…"

var nextWord = regexp.MustCompile(`([a-z])([A-Z])`)

func (m messages) take(dir string, about, said ast.Expr) {
	text := m.text(dir, said)
	if strings.Trim(text, unknown+" :") == "" {
		return // made elsewhere
	}
	of := m.text(dir, about)
	if x, is := about.(*ast.SelectorExpr); is && nameOf(x.X) == "apierr" {
		of = strings.ToLower(nextWord.ReplaceAllString(x.Sel.Name, "${1}_${2}"))
	}
	m.found[message{dir, of, text}] = true
}

var verbs = regexp.MustCompile(`%[-+#0-9.\[\]]*[a-zA-Z]`)

// text is what an expression says, as far as the source shows it.
func (m messages) text(dir string, x ast.Expr) string {
	switch x := x.(type) {
	case *ast.BasicLit:
		text, _ := literal(x)
		return text
	case *ast.Ident:
		if text, ok := m.consts[dir+"."+x.Name]; ok {
			return text
		}
	case *ast.SelectorExpr:
		for _, of := range []string{"server/internal/httpapi", "messaging/payload"} {
			if text, ok := m.consts[of+"."+x.Sel.Name]; ok {
				return text
			}
		}
	case *ast.BinaryExpr:
		if x.Op == token.ADD {
			return m.text(dir, x.X) + m.text(dir, x.Y)
		}
	case *ast.CallExpr:
		if nameOf(x.Fun) == "Sprintf" {
			return verbs.ReplaceAllString(m.text(dir, x.Args[0]), unknown)
		}
	}
	return unknown
}
