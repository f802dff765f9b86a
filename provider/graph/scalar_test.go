package graph_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider/graph"
)

func TestScalars(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]graph.ID{
		`"abc"`: "abc", `"\u0061\/b"`: "a/b", `12345678901234567890`: "12345678901234567890", `-1`: "-1", `null`: "", `""`: "",
	} {
		var id graph.ID
		require.NoError(t, json.Unmarshal([]byte(in), &id), in)
		require.Equal(t, want, id)
	}
	for _, in := range []string{`1.5`, `1e5`, `{}`, `[]`, `true`} {
		var id graph.ID
		require.Error(t, json.Unmarshal([]byte(in), &id), in)
	}
	seconds, millis := time.Unix(1760000000, 0).UTC(), time.UnixMilli(1760000000123).UTC()
	for in, want := range map[string]time.Time{
		`"1760000000"`: seconds, `1760000000`: seconds, `"1760000000123"`: millis, `1760000000123`: millis,
		`0`: {}, `"0"`: {}, `""`: {}, `null`: {}, `-5`: {}, `"soon"`: {}, `1.5`: {}, `{}`: {}, `99999999999999999999`: {}, `9223372036854775807`: {},
	} {
		var at graph.Time
		require.NoError(t, json.Unmarshal([]byte(in), &at), in)
		require.Equal(t, want, at.Time, in)
	}
}
