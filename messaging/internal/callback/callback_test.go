package callback

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestObjectOf(t *testing.T) {
	large := strings.Repeat(" ", wholeBody)
	for body, want := range map[string]string{
		`{"object":"page"}`:                 "page",
		`{"entry":[],"object":"page"}`:      "page",
		`{"object":1}`:                      "",
		`{}`:                                "",
		`{"object" : "page"` + large + `}`:  "page",
		`{"object":` + large + `"page"}`:    "",
		`{"object":"page` + large:           "",
		`{"entry":[]` + large + `}`:         "",
		`{"object":` + large[:wholeBody-11]: "",
	} {
		require.Equal(t, want, objectOf([]byte(body)), strings.TrimSpace(body))
	}
}

func TestNotJSON_LeavesLargeBodies(t *testing.T) {
	require.True(t, notJSON([]byte(`{`)))
	require.False(t, notJSON([]byte(`{}`)))
	require.False(t, notJSON([]byte(`{`+strings.Repeat(" ", wholeBody))))
}
