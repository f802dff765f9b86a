package node_test

import (
	"fmt"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/node"
)

// A document of built-in nodes is compiled and takes a turn.
func Example() {
	document, problems := flow.Decode([]byte(`{
		"format": "trunkline-flow/1", "kind": "flow", "engine": "aiflow", "slug": "greeter", "name": "Greeter", "start": "start",
		"nodes": {
			"start": {"type": "trigger", "config": {"on": [{"kind": "any_message"}]}, "next": {"out": "greet"}},
			"greet": {"type": "message", "config": {"kind": "text", "text": "Welcome!"}}
		}
	}`))
	if len(problems) > 0 {
		fmt.Println(problems)
		return
	}
	program, problems := node.NewTypes().Compile(document, nil)
	if program == nil {
		fmt.Println(problems)
		return
	}
	turn, err := program.Step(nil, flow.Begin{}, flow.World{Now: time.Unix(0, 0)})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(turn.Trace), "steps,", turn.State.Ended.Status)
	// Output: 2 steps, completed
}
