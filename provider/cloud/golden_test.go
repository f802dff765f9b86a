package cloud_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider/providertest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestCallbacksOnFile reads whole callbacks, and compares every member of what
// comes of them with the file beside.
func TestCallbacksOnFile(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/callbacks/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		if strings.HasSuffix(file, ".golden.json") {
			continue
		}
		body, err := os.ReadFile(file)
		require.NoError(t, err)
		events, bad := read(t, body)
		read := []any{}
		for _, e := range events {
			read = append(read, providertest.Shown(e))
		}
		for _, b := range bad {
			read = append(read, map[string]any{"Bad": b.Reason})
		}
		got, err := json.MarshalIndent(read, "", "  ")
		require.NoError(t, err)
		golden := strings.TrimSuffix(file, ".json") + ".golden.json"
		if *update {
			require.NoError(t, os.WriteFile(golden, append(got, '\n'), 0o600))
		}
		want, err := os.ReadFile(golden)
		require.NoError(t, err)
		require.JSONEq(t, string(want), string(got), file)
	}
}
