package runtime

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
)

func TestCallConsumer_EndsBetweenCharacters(t *testing.T) {
	t.Parallel()
	for extra := range 3 {
		name := callConsumer("acme", flow.Call{Kind: "model", Request: flow.ModelRequest{Model: strings.Repeat("a", extra) + strings.Repeat("é", maxPlace)}}, 1)
		require.NotContains(t, name, "\uFFFD")
		require.LessOrEqual(t, len(name), len("acme/#1")+maxPlace)
	}
}
