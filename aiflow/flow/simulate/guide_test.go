package simulate_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow/simulate"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// TestGuide plays the tests of docs/flows.md against its flow.
func TestGuide(t *testing.T) {
	t.Parallel()
	guide := testkit.ReadGuide(t, "../../../docs/flows.md")
	d, p := compiled(t, []byte(guide.Block(t, "hello")))
	tests, err := simulate.ParseTests([]byte(guide.Block(t, "tests")))
	require.NoError(t, err)
	r, err := simulate.Run(d, p, tests)
	require.NoError(t, err)
	for _, o := range r.Tests {
		require.Nil(t, o.Failure, "%s: %+v", o.Name, o.Failure)
	}
	require.Empty(t, r.Coverage.MissingNodes)
}
