package values_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// TestPatterns compiles the patterns that a program compiles at their first use.
func TestPatterns(t *testing.T) {
	t.Parallel()
	for name, pattern := range values.Patterns {
		require.False(t, pattern().MatchString(""), name)
	}
}
