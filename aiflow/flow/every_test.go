package flow_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/node"
)

// function is one that every-node.json calls.
const function = `{"format": "trunkline-flow/1", "kind": "function", "slug": "vat", "name": "VAT", "start": "r",
	"args": {"net": {"type": "number", "required": true}}, "returns": {"gross": {"type": "number", "required": true}},
	"nodes": {"r": {"type": "condition", "config": {"branches": [{"id": "free", "when": "args.net == 0"}]}, "next": {"free": "f", "else": "g"}},
		"f": {"type": "return", "config": {"name": "free", "value": {"gross": 0}}},
		"g": {"type": "return", "config": {"value": {"gross": "{{ args.net * 1.19 }}"}}}}}`

// around returns what every-node.json refers to.
func around(t testing.TB) *flow.Environment {
	return &flow.Environment{
		Engine: flow.EngineFlow, Functions: map[string]*flow.Document{"vat": decode(t, []byte(function))}, Flows: []string{"night"},
		Models: []string{"mock/*"}, Servers: map[string][]string{"shop": {"find"}}, Tools: []string{"send_message"},
		Extractors: map[string]string{"faq": "intent", "colours": "entity"}, Credentials: []string{"shop"},
	}
}

func TestEveryNode(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/every-node.json")
	require.NoError(t, err)
	p, problems := compile(t, node.NewTypes(), raw, around(t))
	require.Empty(t, lines(problems))
	require.NotNil(t, p)

	var d any
	require.NoError(t, json.Unmarshal(raw, &d))
	nodes := map[string][]any{}
	for _, n := range d.(map[string]any)["nodes"].(map[string]any) {
		kind := n.(map[string]any)["type"].(string)
		config, _ := n.(map[string]any)["config"].(map[string]any)
		nodes[kind] = append(nodes[kind], config)
	}
	for _, n := range node.NewTypes().Describe().Nodes {
		if n.Name == "return" {
			continue // only in functions
		}
		require.NotEmpty(t, nodes[n.Name], n.Name)
		var schema map[string]any
		require.NoError(t, json.Unmarshal(n.Config, &schema))
		if n.Name == "question" || n.Name == "handoff" { // their messages are those of a message
			delete(schema["properties"].(map[string]any), "prompt")
			delete(schema["properties"].(map[string]any), "message")
		}
		covered(t, n.Name, schema, nodes[n.Name])
	}
}

// covered requires that each member of a schema is in one of the values.
func covered(t *testing.T, at string, schema map[string]any, values []any) {
	t.Helper()
	if items, ok := schema["items"].(map[string]any); ok {
		var all []any
		for _, v := range values {
			list, _ := v.([]any)
			all = append(all, list...)
		}
		covered(t, at+"[]", items, all)
	}
	properties, _ := schema["properties"].(map[string]any)
	for name, member := range properties {
		if member.(map[string]any)["deprecated"] == true {
			continue
		}
		var given []any
		for _, v := range values {
			if object, ok := v.(map[string]any); ok && object[name] != nil {
				given = append(given, object[name])
			}
		}
		require.NotEmpty(t, given, "%s.%s stands nowhere in every-node.json", at, name)
		covered(t, at+"."+name, member.(map[string]any), given)
	}
}
