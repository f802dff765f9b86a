package text_test

import (
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/text"
)

func TestSanitize(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"":              "",
		"Grüße\n":       "Grüße\n",
		"a\x00b":        "ab",
		"a\xffb":        "a\uFFFDb",
		"\xff\xfe\x00é": "\uFFFDé",
	} {
		require.Equal(t, want, text.Sanitize(s))
	}
}

func TestTruncate(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		s     string
		limit int
		want  string
	}{
		{"", 0, ""},
		{"short", 5, "short"},
		{"longer", 4, "long"},
		{"aé", 2, "a"},
		{"é", 1, ""},
		{"€uro", 3, "€"},
		{"👋", 3, ""},
	} {
		got := text.Truncate(test.s, test.limit)
		require.Equal(t, test.want, got)
		require.True(t, utf8.ValidString(got))
	}
}
