package archtest_test

import (
	"encoding/json"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	block     = regexp.MustCompile("(?ms)^[ \t]*```(\\w+)\n(.*?)^[ \t]*```[ \t]*$")
	operation = regexp.MustCompile(`\b(GET|POST|PUT|PATCH|DELETE) (/[A-Za-z][A-Za-z0-9/:_{}-]*)`)
	called    = regexp.MustCompile(`(?:localhost:3000|https://chat\.example\.com|\$BASE)(/[A-Za-z][A-Za-z0-9/_$-]*)`)
	parameter = regexp.MustCompile(`^(:.*|\{.*\}|\$.*|[0-9]+|[A-Z]+)$`)
	target    = regexp.MustCompile(`\bmake ([a-z][a-z-]*)`)
)

// elsewhere are paths that are no operations of the API's document; those of Meta's Cloud API
// begin with a version.
var elsewhere = []string{"/probe", "/metrics", "/mcp", "/panel", "/swagger", "/swagger/openapi", "/webhooks/provider", "/payments", "/v23"}

// TestOperationsThatAreNamed looks up every operation that a document names or
// calls, in the document of the API.
func TestOperationsThatAreNamed(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join(root, "server", "testdata", "openapi.json"))
	require.NoError(t, err)
	var api struct{ Paths map[string]map[string]any }
	require.NoError(t, json.Unmarshal(raw, &api))
	for path, text := range documents(t) {
		for _, m := range operation.FindAllStringSubmatch(text, -1) {
			assert.Truef(t, has(api.Paths, strings.ToLower(m[1]), m[2]), "%s names %s %s", path, m[1], m[2])
		}
		for _, m := range called.FindAllStringSubmatch(text, -1) {
			assert.Truef(t, has(api.Paths, "", m[1]), "%s calls %s", path, m[1])
		}
	}
}

// has reports whether there is an operation; "" is any method.
func has(paths map[string]map[string]any, method, path string) bool {
	path = strings.TrimSuffix(path, "/")
	if slices.Contains(elsewhere, path) {
		return true
	}
	if rest, mounted := strings.CutPrefix(path, "/chat/"); mounted && has(paths, method, "/"+rest) {
		return true // where programs that embed the server have it
	}
	parts := strings.Split(path, "/")
	for known, methods := range paths {
		ours := strings.Split(known, "/")
		fits := len(ours) == len(parts) && (method == "" || methods[method] != nil)
		for i := 0; fits && i < len(ours); i++ {
			fits = ours[i] == parts[i] || strings.HasPrefix(ours[i], "{") && parameter.MatchString(parts[i])
		}
		if fits {
			return true
		}
	}
	return false
}

// TestSnippetsAreWellFormed parses every code block of the documents in its
// language. Blocks with a marker are also executed by other tests.
func TestSnippetsAreWellFormed(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	require.NoError(t, err)
	for path, text := range documents(t) {
		for _, m := range block.FindAllStringSubmatch(text, -1) {
			language, code := m[1], m[2]
			switch language {
			case "json":
				assert.Truef(t, json.Valid([]byte(code)), "%s: this is no JSON: %s", path, code)
			case "go":
				assert.Truef(t, isGo(code), "%s: this is no Go: %s", path, code)
			case "sh":
				cmd := exec.CommandContext(t.Context(), "bash", "-n")
				cmd.Stdin = strings.NewReader(code)
				out, err := cmd.CombinedOutput()
				assert.NoErrorf(t, err, "%s: %s: %s", path, code, out)
				for _, goal := range target.FindAllStringSubmatch(code, -1) {
					assert.Containsf(t, string(makefile), "\n"+goal[1]+":", "%s: make %s", path, goal[1])
				}
			}
		}
	}
}

// isGo reports whether code is a file, or is in a file or a function.
func isGo(code string) bool {
	for _, around := range [][2]string{{"", ""}, {"package p\n", ""}, {"package p\nfunc f() {\n", "\n}"}} {
		if _, err := parser.ParseFile(token.NewFileSet(), "", around[0]+code+around[1], parser.SkipObjectResolution); err == nil {
			return true
		}
	}
	return false
}
