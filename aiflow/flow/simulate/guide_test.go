package simulate_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow/simulate"
)

// TestGuide plays the tests of docs/flows.md against its flow.
func TestGuide(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "flows.md"))
	require.NoError(t, err)
	block := func(name string) []byte {
		found := regexp.MustCompile("(?s)<!-- flow:" + name + " -->\n```json\n(.*?)```").FindSubmatch(guide)
		require.NotNil(t, found, name)
		return found[1]
	}
	d, p := compiled(t, block("hello"))
	tests, err := simulate.ParseTests(block("tests"))
	require.NoError(t, err)
	r, err := simulate.Run(d, p, tests)
	require.NoError(t, err)
	for _, o := range r.Tests {
		require.Nil(t, o.Failure, "%s: %+v", o.Name, o.Failure)
	}
	require.Empty(t, r.Coverage.MissingNodes)
}
