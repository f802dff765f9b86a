package archtest_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// graphs matches the drawings of docs/architecture.md.
var graphs = regexp.MustCompile(`(?s)(<!-- graphs:[^\n]*-->\n).*(<!-- /graphs -->)`)

// TestGraphIsDrawn checks the drawings of the packages within messaging, flow and
// server against the source, and that they have no cycle. The packages of the API
// are one box. Dependencies that follow from others are left out.
func TestGraphIsDrawn(t *testing.T) {
	t.Parallel()
	all := load(t)
	var b strings.Builder
	for _, folder := range []string{"messaging", "aiflow/flow", "server"} {
		needs := within(all, folder)
		deep := map[string]map[string]bool{}
		for _, name := range slices.Sorted(maps.Keys(needs)) {
			reach(t, needs, deep, name, nil)
		}
		fmt.Fprintf(&b, "Within `%s`:\n\n```mermaid\ngraph LR\n", folder)
		for _, from := range slices.Sorted(maps.Keys(needs)) {
			for _, to := range slices.Sorted(maps.Keys(needs[from])) {
				if !implied(needs[from], deep, to) {
					fmt.Fprintf(&b, "  %s --> %s\n", from, to)
				}
			}
		}
		b.WriteString("```\n\n")
	}
	page := filepath.Join(root, "docs", "architecture.md")
	drawn, err := os.ReadFile(page)
	require.NoError(t, err)
	require.Regexp(t, graphs, string(drawn))
	want := graphs.ReplaceAllString(string(drawn), "${1}"+b.String()+"${2}")
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(want), 0o600))
		return
	}
	require.Equal(t, want, string(drawn), "run with -update")
}

// within returns the direct dependencies among the packages of a folder, by their
// names below it. Programs, and packages for tests, are left out.
func within(all map[string]pkg, folder string) map[string]map[string]bool {
	name := func(path string) string {
		rest, ok := strings.CutPrefix(ours(path), folder)
		switch {
		case !ok || rest != "" && rest[0] != '/', all[path].Name == "main", strings.HasSuffix(rest, "test"):
			return ""
		case rest == "":
			return folder
		case strings.HasPrefix(rest, "/internal/api/"):
			return "internal/api"
		}
		return rest[1:]
	}
	out := map[string]map[string]bool{}
	for path, p := range all {
		from := name(path)
		if from == "" {
			continue
		}
		if out[from] == nil {
			out[from] = map[string]bool{}
		}
		for _, imported := range p.Imports {
			if to := name(imported); to != "" && to != from {
				out[from][to] = true
			}
		}
	}
	return out
}

// reach fills deep with all that name depends on. Way leads to it.
func reach(t *testing.T, needs, deep map[string]map[string]bool, name string, way []string) map[string]bool {
	t.Helper()
	require.NotContains(t, way, name, "a cycle: %v", way)
	if deep[name] != nil {
		return deep[name]
	}
	out := map[string]bool{}
	for to := range needs[name] {
		out[to] = true
		maps.Copy(out, reach(t, needs, deep, to, append(slices.Clone(way), name)))
	}
	deep[name] = out
	return out
}

// implied reports whether another direct dependency depends on to.
func implied(direct map[string]bool, deep map[string]map[string]bool, to string) bool {
	for other := range direct {
		if deep[other][to] {
			return true
		}
	}
	return false
}
