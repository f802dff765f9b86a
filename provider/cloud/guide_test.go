package cloud_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider/cloud"
)

// TestFieldsAreDocumented holds what is to be subscribed to in Meta's
// dashboard, after the guide, against what is understood.
func TestFieldsAreDocumented(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../../docs/cloud.md")
	require.NoError(t, err)
	for _, field := range cloud.Fields() {
		require.Contains(t, string(guide), "`"+field+"`")
	}
}
