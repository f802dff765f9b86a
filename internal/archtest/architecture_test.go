package archtest_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// folders matches the table of docs/architecture.md.
var folders = regexp.MustCompile(`(?s)(<!-- rooms:[^\n]*-->\n).*(<!-- /rooms -->)`)

// ourPath matches the path of a file or a folder.
var ourPath = regexp.MustCompile("`([a-z0-9]+(?:/[a-z0-9_.]+)+)`")

// TestArchitectureIsDocumented checks the table of the packages: the purpose of
// each, from its package documentation, and its allowed dependencies.
func TestArchitectureIsDocumented(t *testing.T) {
	t.Parallel()
	all := load(t)
	var b strings.Builder
	b.WriteString("| package | | may depend on |\n|---|---|---|\n")
	for _, a := range dependencies {
		p, ok := all[module+"/"+a.from]
		require.Truef(t, ok, "arrows has a row for %s, which is not there", a.from)
		words, found := strings.CutPrefix(p.Doc, "Package ")
		require.Truef(t, found, "the documentation of %s begins with Package", a.from)
		_, words, _ = strings.Cut(strings.TrimSuffix(words, "."), " ")
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", a.from, strings.ReplaceAll(words, "|", `\|`), a.targets())
	}
	page := filepath.Join(root, "docs", "architecture.md")
	tested, err := os.ReadFile(page)
	require.NoError(t, err)
	require.Regexp(t, folders, string(tested))
	want := folders.ReplaceAllString(string(tested), "${1}"+strings.ReplaceAll(b.String(), "$", "$$")+"${2}")
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(want), 0o600))
		return
	}
	require.Equal(t, want, string(tested), "run with -update")
	for _, m := range ourPath.FindAllStringSubmatch(want, -1) {
		_, err := os.Stat(filepath.Join(root, m[1]))
		require.NoErrorf(t, err, "docs/architecture.md names %s", m[1])
	}
}

// targets returns what the packages of a row may depend on, in words.
func (a arrow) targets() string {
	var out []string
	for _, name := range a.may {
		out = append(out, "`"+name+"/…`")
	}
	for _, name := range a.exact {
		out = append(out, "`"+name+"`")
	}
	return cmp.Or(strings.Join(out, ", "), "–")
}
