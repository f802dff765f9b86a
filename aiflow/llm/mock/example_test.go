package mock_test

import (
	"context"
	"fmt"
	"log"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/mock"
)

// Two models without a key: one answers from its instructions, the other repeats
// the message.
func ExampleNew() {
	model := mock.New()
	for _, name := range []string{"assistant", "echo"} {
		answer, err := model.Generate(context.Background(), &llm.Request{
			Model: name, System: "We sell flowers. Roses cost five euros.", Messages: []llm.Message{llm.User("How much do roses cost?")},
		})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(answer.Message.Text())
	}
	// Output:
	// Roses cost five euros.
	// How much do roses cost?
}
