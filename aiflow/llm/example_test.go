package llm_test

import (
	"context"
	"fmt"
	"log"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/llmtest"
	"github.com/trunklinehq/trunkline/aiflow/llm/mock"
)

// A model is named by its provider and the provider's own name of it.
func ExampleModels() {
	models, err := llm.NewModels(map[string]llm.Model{"mock": mock.New()}) // and openai, anthropic
	if err != nil {
		log.Fatal(err)
	}
	model, name, err := models.Find("mock/assistant")
	if err != nil {
		log.Fatal(err)
	}
	answer, err := model.Generate(context.Background(), &llm.Request{
		Model: name, System: "We sell flowers. Parcels leave at noon.",
		Messages: []llm.Message{llm.User("When do parcels leave?")},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.Message.Text(), answer.Stop, answer.Usage.Input, answer.Usage.Output)
	_, _, err = models.Find("openai/gpt-5")
	fmt.Println(err)
	// Output:
	// Parcels leave at noon. done 16 6
	// llm.no_model: there is no model "openai/gpt-5"
}

// A model that is busy for a moment is asked again.
func ExampleRetry() {
	busy := llmtest.NewScript(
		llmtest.Fail(&llm.Error{Code: llm.CodeRateLimited, Message: "come back later"}),
		llmtest.Say("Hello."),
	)
	answer, err := llm.Retry(busy, nil).Generate(context.Background(), &llm.Request{Model: "any", Messages: []llm.Message{llm.User("Hi")}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.Message.Text(), busy.Count().Requests)
	// Output: Hello. 2
}
