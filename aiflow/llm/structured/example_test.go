package structured_test

import (
	"context"
	"fmt"
	"log"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/llmtest"
	"github.com/trunklinehq/trunkline/aiflow/llm/structured"
)

// An answer that does not fit is sent back with what is wrong, once.
func ExampleGenerate() {
	schema, err := structured.Compile([]byte(`{
		"type": "object", "required": ["city"], "properties": {"city": {"type": "string"}, "guests": {"type": "integer"}}
	}`))
	if err != nil {
		log.Fatal(err)
	}
	model := llmtest.NewScript(
		llmtest.Say(`{"guests": "two"}`),
		llmtest.Say("Sorry! ```json\n{\"city\": \"Bremen\", \"guests\": 2}\n```"),
	)
	request := &llm.Request{Model: "any", Messages: []llm.Message{llm.User("A table for two in Bremen, please.")}}
	answer, err := structured.Generate(context.Background(), model, request, structured.Wanted{Schema: schema, Repair: 1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.Value, model.Count().Requests)
	// Output: map[city:Bremen guests:2] 2
}

// What a model makes up does not count: a value needs words of the text.
func ExampleExtract() {
	model := llmtest.NewScript(llmtest.Say(`{"values": {"city": "Bremen", "guests": 2}, "evidence": {"city": "in Bremen", "guests": "two"}}`))
	found, err := structured.Extract(context.Background(), model, structured.Extraction{
		Model: "any", Text: "A table in Bremen, please.",
		Schema: []byte(`{"type": "object", "properties": {"city": {"type": "string"}, "guests": {"type": "integer"}}, "required": ["city", "guests"]}`),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(found.Values, found.Evidence, found.Missing)
	// Output: map[city:Bremen] map[city:in Bremen] [guests]
}
