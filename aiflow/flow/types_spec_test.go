package flow_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow/node"
	"github.com/trunklinehq/trunkline/internal/testkit"
)

// The node types have the members, values, defaults and outputs of the format's
// specification.
func TestNodesAreThoseOfTheFormat(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join(testkit.Shared(t), "spec", "flows", "nodes.json"))
	require.NoError(t, err)
	var list struct {
		Nodes map[string]struct {
			Engines, Outputs, Errors []string
			Config                   map[string]any
		}
	}
	require.NoError(t, json.Unmarshal(raw, &list))
	nodes := node.NewTypes().Describe().Nodes
	require.Len(t, nodes, len(list.Nodes))
	for _, n := range nodes {
		want, ok := list.Nodes[n.Name]
		require.True(t, ok, n.Name)
		require.ElementsMatch(t, want.Engines, n.Engines, n.Name)
		var outputs []string
		for _, o := range n.Outputs {
			outputs = append(outputs, o.Name)
		}
		require.ElementsMatch(t, want.Outputs, outputs, n.Name)
		require.Subset(t, append([]string{""}, n.Errors...), append([]string{""}, want.Errors...), n.Name)

		var schema struct{ Properties map[string]map[string]any }
		require.NoError(t, json.Unmarshal(n.Config, &schema))
		for name, described := range want.Config {
			ours, ok := schema.Properties[name]
			require.True(t, ok, "%s.%s", n.Name, name)
			of, _ := described.(map[string]any)
			if of["type"] == "enum" {
				require.Equal(t, of["values"], ours["enum"], "%s.%s", n.Name, name)
			}
			// Of objects and lists the members have the defaults; two are words.
			switch of["default"].(type) {
			case string, float64, bool:
				if !slices.Contains([]string{"question.timeout", "extract.locale"}, n.Name+"."+name) {
					require.Equal(t, of["default"], ours["default"], "%s.%s", n.Name, name)
				}
			}
		}
	}
}
