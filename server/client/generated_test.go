package client_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/clientgen"
)

var update = flag.Bool("update", false, "write the generated files")

// TestGenerated compares the generated files with what the document makes of
// them: go generate writes them.
func TestGenerated(t *testing.T) {
	t.Parallel()
	document, err := os.ReadFile(filepath.Join("..", "testdata", "openapi.json"))
	require.NoError(t, err)
	files, err := clientgen.Generate(document)
	require.NoError(t, err)
	for name, want := range files {
		if *update {
			require.NoError(t, os.WriteFile(name, want, 0o600))
		}
		got, err := os.ReadFile(name)
		require.NoError(t, err)
		require.Equal(t, string(want), string(got), "the document has changed: go generate ./server/client")
	}
}
