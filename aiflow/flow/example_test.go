package flow_test

import (
	"fmt"
	"log"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/node"
)

// A conversation of two turns. The result of a turn is data: the caller stores its
// state and performs its effects.
func Example() {
	document, problems := flow.Decode([]byte(`{
		"format": "trunkline-flow/1", "kind": "flow", "slug": "greeting", "name": "Greeting", "start": "begin",
		"variables": {"name": {"type": "string"}},
		"nodes": {
			"begin": {"type": "trigger", "config": {"on": [{"kind": "any_message"}]}, "next": {"out": "ask"}},
			"ask": {"type": "question", "config": {"prompt": {"text": "What is your name?"}, "saveTo": "name"}, "next": {"out": "greet"}},
			"greet": {"type": "message", "config": {"text": "Hello, {{ vars.name }}!"}}
		}
	}`))
	if document == nil {
		log.Fatal(problems)
	}
	program, problems := node.NewTypes().Compile(document, nil)
	if program == nil {
		log.Fatal(problems)
	}

	world := flow.World{Now: time.Now(), Chat: map[string]any{"id": "ana@sandbox"}}
	turn, err := program.Step(nil, flow.Begin{}, world)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(turn.Effects[0].(flow.Send).Message))
	turn, err = program.Step(turn.State, flow.Reply{Message: map[string]any{"type": "text", "text": "Ana"}}, world)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(turn.Effects[0].(flow.Send).Message), turn.State.Ended.Status)
	// Output:
	// {"type":"text","text":"What is your name?"}
	// {"type":"text","text":"Hello, Ana!"} completed
}
