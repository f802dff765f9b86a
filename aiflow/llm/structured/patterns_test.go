package structured_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/llm/structured"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// TestPatternsTakeNoTime compiles schemas whose patterns repeat too much, alone
// or together: without bounds that takes hundreds of megabytes.
func TestPatternsTakeNoTime(t *testing.T) {
	t.Parallel()
	of := func(pattern string, times int) json.RawMessage {
		one, err := json.Marshal(map[string]any{"type": "string", "pattern": pattern})
		require.NoError(t, err)
		return json.RawMessage(`{"prefixItems": [` + strings.TrimSuffix(strings.Repeat(string(one)+",", times), ",") + `]}`)
	}
	for _, c := range []struct {
		pattern string
		times   int
	}{{strings.Repeat("(?:.?){900}", 1000), 1}, {"(?:.?){400}y", 20}} {
		testkit.Within(t, 5*time.Second, "compile", func() {
			_, err := structured.Compile(of(c.pattern, c.times))
			require.ErrorContains(t, err, "too much")
		})
	}
	s, err := structured.Compile(of("^[A-Z]{2}-[0-9]+$", 50))
	require.NoError(t, err)
	require.NoError(t, s.Validate([]any{"AB-12"}))
	require.Error(t, s.Validate([]any{"AB-"}))
}
