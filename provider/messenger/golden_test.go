package messenger_test

import (
	"encoding/json"
	"flag"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/provider/providertest"
)

var update = flag.Bool("update", false, "rewrite the golden file")

// TestItemsOnFile reads an item of each kind, and compares every member of
// what comes of it with the file beside.
func TestItemsOnFile(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/items.json")
	require.NoError(t, err)
	var items []struct {
		Name    string
		Members json.RawMessage
	}
	require.NoError(t, json.Unmarshal(raw, &items))
	got := map[string]any{}
	for _, x := range items {
		events, bad := read(t, item(string(x.Members[1:len(x.Members)-1])))
		all := []any{}
		for _, e := range events {
			providertest.Whole(t, e)
			all = append(all, providertest.Shown(e))
		}
		for _, b := range bad {
			all = append(all, map[string]any{"Bad": b.Reason})
		}
		require.NotEmpty(t, all, x.Name)
		got[x.Name] = all
	}
	encoded, err := json.MarshalIndent(got, "", "  ")
	require.NoError(t, err)
	const golden = "testdata/items.golden.json"
	if *update {
		require.NoError(t, os.WriteFile(golden, append(encoded, '\n'), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.JSONEq(t, string(want), string(encoded))
}
