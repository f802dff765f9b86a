package anthropic_test

import (
	"context"
	"fmt"
	"log"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/anthropic"
	"github.com/trunklinehq/trunkline/aiflow/llm/llmtest"
)

// A server on this machine answers here; without BaseURL it is Anthropic.
func ExampleNew() {
	server := llmtest.NewServer(llmtest.Say("It is on its way."))
	defer server.Close()
	model, err := anthropic.New(&anthropic.Options{Key: "your key", BaseURL: server.Anthropic()})
	if err != nil {
		log.Fatal(err)
	}
	answer, err := model.Generate(context.Background(), &llm.Request{
		Model: "claude-haiku-4-5", System: "Answer in one sentence.", Messages: []llm.Message{llm.User("Where is my parcel?")},
		OnText: func(part string) { fmt.Print(part) }, // as it is written
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println()
	fmt.Println(answer.Provider, answer.Stop, answer.Usage.Output)
	// Output:
	// It is on its way.
	// anthropic done 5
}
