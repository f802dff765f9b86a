package simulate_test

import (
	"encoding/json"
	"fmt"
	"log"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/node"
	"github.com/trunklinehq/trunkline/aiflow/flow/simulate"
)

const greeting = `{
	"format": "trunkline-flow/1", "kind": "flow", "slug": "greeting", "name": "Greeting", "start": "trigger",
	"variables": {"name": {"type": "string"}},
	"nodes": {
		"trigger": {"type": "trigger", "config": {"on": [{"kind": "any_message"}]}, "next": {"out": "ask"}},
		"ask": {
			"type": "question", "config": {"prompt": {"text": "What is your name?"}, "saveTo": "name", "timeout": "PT1H"},
			"next": {"out": "hello", "timeout": "late"}
		},
		"hello": {"type": "message", "config": {"text": "Hello, {{ vars.name }}!"}},
		"late": {"type": "message", "config": {"text": "Another time, then."}}
	}
}`

func greeter() (*flow.Document, *flow.Program) {
	document, problems := flow.Decode([]byte(greeting))
	program, more := node.NewTypes().Compile(document, nil)
	if program == nil {
		log.Fatal(problems, more)
	}
	return document, program
}

// A conversation continues step by step; the session can be kept as JSON between
// them.
func ExampleStart() {
	_, program := greeter()
	session, result, err := simulate.Start(program, simulate.Given{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Did[0].Kind, result.Did[0].Node)
	result, err = session.Advance(program, 2*time.Hour)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(result.Did[0].Effect.(flow.Send).Message), result.Did[0].At.Sub(simulate.Begin))
	// Output:
	// send ask
	// {"type":"text","text":"Another time, then."} 1h0m0s
}

// Tests say what the contact does and what is expected.
func ExampleRun() {
	document, program := greeter()
	var tests []simulate.Test
	err := json.Unmarshal([]byte(`[{
		"name": "somebody with a name",
		"steps": [{"expect": "What is your name?"}, {"send": "Ana"}, {"expect": "Hello, Ana!"}, {"expect": {"ended": "completed"}}]
	}]`), &tests)
	if err != nil {
		log.Fatal(err)
	}
	report, err := simulate.Run(document, program, tests)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Passed, report.Coverage.MissingNodes, report.Coverage.MissingOutputs)
	// Output: true [late] [ask.timeout]
}
