package author_test

import (
	"context"
	"fmt"
	"log"

	"github.com/trunklinehq/trunkline/aiflow/author"
	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/node"
	"github.com/trunklinehq/trunkline/aiflow/llm/llmtest"
)

// A model makes a mistake, is told of it, and puts it right.
func ExamplePropose() {
	model := llmtest.NewScript( // what a model of a provider might answer
		llmtest.Say(`{"start": "begin", "nodes": {"begin": {"type": "trigger", "config": {"on": [{"kind": "any_message"}]}, "next": {"out": "hello"}}}}`),
		llmtest.Say(`{"start": "begin", "nodes": {"begin": {"type": "trigger", "config": {"on": [{"kind": "any_message"}]}, "next": {"out": "hello"}},
			"hello": {"type": "message", "config": {"text": "Welcome!"}}}}`),
	)
	proposal, err := author.Propose(context.Background(), model, node.NewTypes(), author.Request{
		Text: "Welcome everybody who writes to us.", Slug: "welcome", Name: "Welcome", Model: "any", Repair: 2,
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(model.Count().Requests, flow.Failed(proposal.Problems))
	document, _ := flow.Decode(proposal.Draft)
	fmt.Println(document.Name, document.Nodes["hello"].Type)
	// Output:
	// 2 false
	// Welcome message
}

// Without a model there is a sketch.
func ExampleSketch() {
	draft := author.Sketch(author.Request{Text: "Ask for the name and the number of guests, then call a person.", Slug: "table", Name: "Table"})
	document, _ := flow.Decode(draft)
	for id := document.Start; id != ""; id = document.Nodes[id].Next["out"] {
		fmt.Println(document.Nodes[id].Type)
	}
	// Output:
	// trigger
	// question
	// question
	// message
	// handoff
}
