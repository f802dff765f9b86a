package text_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/text"
)

func TestNearest(t *testing.T) {
	t.Parallel()
	names := []string{"name", "contact", "Email", "ok"}
	for name, want := range map[string]string{"anme": "name", "cotnact": "contact", "contacts": "contact", "email": "Email", "o": "ok", "address": "", "": "", "x": "", strings.Repeat("n", 100): ""} {
		require.Equal(t, want, text.Nearest(name, names), name)
	}
	require.Empty(t, text.Nearest("a", nil))
	long := strings.Repeat("n", 63)
	require.Equal(t, long+"a", text.Nearest(long+"b", []string{long + "a"}))
	require.Empty(t, text.Nearest(long+"ab", []string{long + "ac"}), "too long")
}
