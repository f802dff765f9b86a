package openai_test

import (
	"context"
	"fmt"
	"log"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/llmtest"
	"github.com/trunklinehq/trunkline/aiflow/llm/openai"
)

// A server on this machine answers here; without BaseURL it is OpenAI.
func ExampleNew() {
	server := llmtest.NewServer(llmtest.Say("It is on its way."))
	defer server.Close()
	model, err := openai.New(&openai.Options{Key: "your key", BaseURL: server.OpenAI()})
	if err != nil {
		log.Fatal(err)
	}
	answer, err := model.Generate(context.Background(), &llm.Request{
		Model: "gpt-5-mini", System: "Answer in one sentence.", Messages: []llm.Message{llm.User("Where is my parcel?")},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.Message.Text())
	fmt.Println(answer.Provider, answer.Stop, answer.Usage.Output)
	// Output:
	// It is on its way.
	// openai done 5
}

// Texts that mean the same lie near to each other.
func ExampleModel_Embed() {
	server := llmtest.NewServer()
	defer server.Close()
	model, err := openai.New(&openai.Options{BaseURL: server.OpenAI()})
	if err != nil {
		log.Fatal(err)
	}
	found, err := model.Embed(context.Background(), "text-embedding-3-small", []string{"Where is my parcel?", "How much is it?"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(found.Vectors), len(found.Vectors[0]) == len(found.Vectors[1]))
	// Output: 2 true
}
