package archtest_test

import (
	"flag"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var (
	fenced   = regexp.MustCompile("(?ms)^[ \t]*```.*?^[ \t]*```[ \t]*$")
	inline   = regexp.MustCompile("`[^`\n]*`")
	link     = regexp.MustCompile(`\]\(([^()\s]+)\)|<(https?://[^<>\s]+)>`)
	heading  = regexp.MustCompile(`(?m)^#{1,6} +(.+?) *$`)
	notSlug  = regexp.MustCompile(`[^\p{L}\p{N}_\- ]`)
	testName = regexp.MustCompile("`((?:Test|Benchmark|Fuzz)[A-Z][A-Za-z0-9_]*)`")
	function = regexp.MustCompile(`(?m)^func ((?:Test|Benchmark|Fuzz)[A-Z]\w*)\(`)
)

// TestLinks checks every link of the documents: links within the repository lead to
// a file and a heading, others are on the list and use https. The test makes no
// requests.
func TestLinks(t *testing.T) {
	t.Parallel()
	all := documents(t)
	var outside []string
	for path, text := range all {
		for _, m := range link.FindAllStringSubmatch(prose(text), -1) {
			target := m[1] + m[2]
			u, err := url.Parse(target)
			switch {
			case !assert.NoErrorf(t, err, "%s: %s", path, target):
			case u.Host == "localhost:3000": // one's own server
			case u.Scheme != "":
				assert.Equalf(t, "https", u.Scheme, "%s: %s", path, target)
				outside = append(outside, target)
			default:
				follow(t, all, path, u)
			}
		}
	}
	slices.Sort(outside)
	list := strings.Join(slices.Compact(outside), "\n") + "\n"
	golden := filepath.Join("testdata", "links.txt")
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(golden, []byte(list), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), list, "links that lead outside: try them, then run with -update")
}

// follow looks for where a link within the repository leads.
func follow(t *testing.T, all map[string]string, path string, u *url.URL) {
	t.Helper()
	to := path
	if u.Path != "" {
		to = filepath.ToSlash(filepath.Join(filepath.Dir(path), u.Path))
		if _, err := os.Stat(filepath.Join(root, to)); !assert.NoErrorf(t, err, "%s links to %s", path, u) {
			return
		}
	}
	if u.Fragment != "" {
		assert.Containsf(t, anchors(all[to]), u.Fragment, "%s links to %s", path, u)
	}
}

// TestPagesAreIndexed holds the index of the guides against the folder.
func TestPagesAreIndexed(t *testing.T) {
	t.Parallel()
	all := documents(t)
	for path := range all {
		if name, ok := strings.CutPrefix(path, "docs/"); ok && name != "README.md" {
			assert.Containsf(t, all["docs/README.md"], "("+name+")", "docs/README.md must say who reads %s", name)
		}
	}
}

// TestTestsThatAreNamed holds the tests that documents name against those that
// there are.
func TestTestsThatAreNamed(t *testing.T) {
	t.Parallel()
	there := map[string]bool{}
	walk(t, "_test.go", func(_, text string) {
		for _, m := range function.FindAllStringSubmatch(text, -1) {
			there[m[1]] = true
		}
	})
	for path, text := range documents(t) {
		for _, m := range testName.FindAllStringSubmatch(text, -1) {
			assert.Truef(t, there[m[1]], "%s names %s", path, m[1])
		}
	}
}

// documents returns the Markdown files of the repository, by their paths.
func documents(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	walk(t, ".md", func(path, text string) { all[path] = text })
	require.Contains(t, all, "README.md")
	return all
}

// walk reads the files of the repository whose names end so.
func walk(t *testing.T, suffix string, fn func(path, text string)) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(root, path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") && rel != "." || slices.Contains([]string{"node_modules", "testdata", "dist", "bin"}, d.Name())):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(rel, suffix):
			return nil
		}
		b, err := os.ReadFile(path)
		fn(filepath.ToSlash(rel), strings.ReplaceAll(string(b), "\r\n", "\n"))
		return err
	}))
}

// prose returns a document without its code.
func prose(text string) string { return inline.ReplaceAllString(fenced.ReplaceAllString(text, ""), "") }

// anchors returns the names by which the headings of a document are linked to, as
// GitHub makes them.
func anchors(text string) []string {
	var out []string
	for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		words := notSlug.ReplaceAllString(strings.ToLower(m[1]), "")
		out = append(out, strings.ReplaceAll(words, " ", "-"))
	}
	return out
}
