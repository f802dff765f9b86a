package client_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
)

// TestGuide finds the TypeScript of docs/client.md among the sources of the
// panel, which are checked.
func TestGuide(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile(filepath.Join("..", "panel", "src", "api", "example.ts"))
	require.NoError(t, err)
	require.Contains(t, string(source), testkit.ReadGuide(t, "../../docs/client.md").Block(t, "ts"))
}
