package text_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/text"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"Shop":                   "",
		strings.Repeat("é", 5):   "",
		"":                       "must not be empty",
		" \t":                    "must not be empty",
		"a\x00":                  "must be UTF-8 without zero bytes",
		"a\xff":                  "must be UTF-8 without zero bytes",
		strings.Repeat("é", 5+1): "must have at most 5 characters",
	} {
		require.Equal(t, want, text.Check(s, 1, 5), s)
	}
	require.Empty(t, text.Check("", 0, 5))
}
