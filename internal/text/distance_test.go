package text_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/text"
)

func TestEditDistance(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "abc", 3},
		{"green", "green", 0},
		{"gren", "green", 1},
		{"greeen", "green", 1},
		{"groen", "green", 1},
		{"gerén", "geren", 1},
		{"rgeen", "green", 1},
		{"ca", "abc", 3}, // nothing is edited twice
		{"kitten", "sitting", 3},
	} {
		require.Equal(t, test.want, text.EditDistance([]rune(test.a), []rune(test.b)), "%s %s", test.a, test.b)
		require.Equal(t, test.want, text.EditDistance([]rune(test.b), []rune(test.a)), "%s %s", test.b, test.a)
	}
}
