package graph_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider/graph"
)

func TestValueText(t *testing.T) {
	t.Parallel()
	for wire, want := range map[string]string{
		`"plain"`: "plain", `"a\/b \ud83d\ude42"`: "a/b 🙂", `""`: "", `7`: "", `null`: "", `{}`: "", ``: "", "\"\xff\"": "\uFFFD",
	} {
		require.Equal(t, want, graph.Value(wire).Text(), wire)
	}
}

func TestValueID(t *testing.T) {
	t.Parallel()
	for wire, want := range map[string]string{
		`"wamid.A\/b"`: "wamid.A/b", `1700100200300400500`: "1700100200300400500", `-7`: "-7", `7.5`: "", `1e3`: "", `true`: "", `null`: "", ``: "", `[]`: "",
	} {
		require.Equal(t, want, graph.Value(wire).ID(), wire)
	}
}

func TestValueNumber(t *testing.T) {
	t.Parallel()
	for wire, want := range map[string]json.Number{
		`12.50`: "12.50", `"12.50"`: "12.50", `" 7 "`: "7", `-1`: "-1", `1e400`: "1e400",
		`"many"`: "", `""`: "", `"0x10"`: "", `"NaN"`: "", `"1,5"`: "", `"- 1"`: "", `null`: "", `{}`: "", ``: "",
	} {
		n := graph.Value(wire).Number()
		require.Equal(t, want, n, wire)
		_, err := json.Marshal(n)
		require.NoError(t, err)
	}
	f, ok := graph.Value(`"7.25"`).Float()
	require.True(t, ok)
	require.InDelta(t, 7.25, f, 0)
	_, ok = graph.Value(`1e400`).Float()
	require.False(t, ok, "too large")
	require.EqualValues(t, 42, graph.Value(`"42"`).Int())
	require.Zero(t, graph.Value(`4.2`).Int())
}

func TestValueParts(t *testing.T) {
	t.Parallel()
	v := graph.Value(`{"at":"1760000000","yes":true,"no":"true","list":[1,"2",{}]}`)
	require.True(t, v.Object())
	require.True(t, v.Get("at").Time().Equal(time.Unix(1760000000, 0)))
	require.True(t, v.Get("yes").Flag())
	require.False(t, v.Get("no").Flag())
	var items []string
	for item := range v.Get("list").Items() {
		items = append(items, string(item))
	}
	require.Equal(t, []string{`1`, `"2"`, `{}`}, items)
	nothing := v.Get("missing").Get("deeper")
	require.False(t, nothing.Object())
	require.Zero(t, nothing.Time())
	for range nothing.Items() {
		require.Fail(t, "nothing has no items")
	}
}
