package typebot_test

import (
	"fmt"
	"log"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/typebot"
)

// An export becomes a draft; what it cannot have is named.
func ExampleConvert() {
	export := []byte(`{
		"version": "6", "name": "Guests",
		"events": [{"id": "start", "type": "start", "outgoingEdgeId": "e1"}],
		"groups": [{"id": "g1", "title": "Welcome", "blocks": [
			{"id": "b1", "type": "text", "content": {"richText": [{"type": "p", "children": [{"text": "How many are you?"}]}]}},
			{"id": "b2", "type": "number input", "options": {"variableId": "v1"}},
			{"id": "b3", "type": "Google Sheets", "options": {}}
		]}],
		"edges": [{"id": "e1", "from": {"eventId": "start"}, "to": {"groupId": "g1"}}],
		"variables": [{"id": "v1", "name": "Guests"}]
	}`)
	f, err := typebot.Convert(export)
	if err != nil {
		log.Fatal(err)
	}
	document, _ := flow.Decode(f.Draft)
	for id := document.Start; id != ""; id = document.Nodes[id].Next["out"] {
		fmt.Println(document.Nodes[id].Type)
	}
	for _, p := range f.Problems {
		fmt.Println(p.Severity, p.Path, p.Message)
	}
	// Output:
	// trigger
	// question
	// error /groups/0/blocks/2 the block "Google Sheets" has no counterpart
}
