package client_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGuide finds what docs/client.md shows in files that are compiled: Go in
// the example of this package, TypeScript among the sources of the panel.
func TestGuide(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile(filepath.Join("..", "..", "docs", "client.md"))
	require.NoError(t, err)
	files := map[string]string{"go": "example_test.go", "ts": filepath.Join("..", "panel", "src", "api", "example.ts")}
	shown := 0
	for _, m := range regexp.MustCompile("(?s)```(go|ts)\n(.*?)```").FindAllStringSubmatch(string(guide), -1) {
		source, err := os.ReadFile(files[m[1]])
		require.NoError(t, err)
		require.Contains(t, string(source), strings.TrimSpace(m[2]))
		shown++
	}
	require.Equal(t, len(files), shown)
}
