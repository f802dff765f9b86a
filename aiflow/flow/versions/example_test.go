package versions_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/trunklinehq/trunkline/aiflow/flow/node"
	"github.com/trunklinehq/trunkline/aiflow/flow/versions"
)

func ExampleCompile() {
	draft := json.RawMessage(`{"format": "trunkline-flow/1", "slug": "hello", "name": "Hello", "start": "begin", "nodes": {}}`)
	program, _, problems := versions.Compile(node.NewTypes(), draft, nil)
	fmt.Println(program != nil)
	for _, p := range problems {
		fmt.Println(strings.TrimSpace(p.Code + " " + p.Path))
	}
	// Output:
	// false
	// shape.required
	// shape.length /nodes
	// graph.target /start
}
