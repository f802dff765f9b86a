package pattern_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/pattern"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

func TestCompile(t *testing.T) {
	t.Parallel()
	re, size, err := pattern.Compile(`#(\d+)`)
	require.NoError(t, err)
	require.Equal(t, []string{"#12", "12"}, re.FindStringSubmatch("see #12"))
	require.Positive(t, size)
	_, _, err = pattern.Compile("(")
	require.EqualError(t, err, "error parsing regexp: missing closing ): `(`")
	for _, large := range []string{strings.Repeat("(?:.?){900}", 90), `(?:(?:x{0,30}){0,30})y`, strings.Repeat("x", 1001)} {
		testkit.Within(t, 5*time.Second, large, func() { _, _, err = pattern.Compile(large) })
		require.ErrorContains(t, err, "it repeats too much")
	}
}

// TestSearchTakesNoTime holds the dearest pattern against the longest text.
func TestSearchTakesNoTime(t *testing.T) {
	t.Parallel()
	re, size, err := pattern.Compile("(?:.?){498}y")
	require.NoError(t, err)
	require.Greater(t, size, 990)
	text := pattern.Searched(strings.Repeat("x", 1<<20))
	require.Len(t, text, 16<<10)
	testkit.Within(t, 20*time.Second, "search", func() { require.False(t, re.MatchString(text)) })
}
