package memory_test

import (
	"context"
	"fmt"
	"log"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/memory"
	"github.com/trunklinehq/trunkline/sqldb"
)

// What was said in a chat is there when the next question comes.
func Example() {
	ctx := context.Background()
	db, err := sqldb.Open(ctx, "sqlite://:memory:")
	check(err)
	defer db.Close() //nolint:errcheck // nothing is written any more
	memories, err := memory.New(ctx, db, nil)
	check(err)
	shop := memories.For("shop")
	chat := memory.Chat{Reference: 1, ID: "ana@sandbox"}

	first := memory.Place{Scope: memory.ScopeChat, Run: "run 1", Chat: chat}
	check(shop.Remember(ctx, first, "turn 1", []llm.Message{llm.User("My name is Ana."), llm.Assistant("Hello, Ana!")}))

	next := memory.Place{Scope: memory.ScopeChat, Run: "run 2", Chat: chat}
	earlier, err := shop.Recall(ctx, memory.Question{Place: next, Key: "turn 2", Messages: 20, Tokens: 8000})
	check(err)
	for _, m := range append(earlier.Messages, llm.User("What is my name?")) { // what the model is asked
		fmt.Println(m.Role+":", m.Text())
	}
	// Output:
	// user: My name is Ana.
	// assistant: Hello, Ana!
	// user: What is my name?
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
