package usage_test

import (
	"context"
	"fmt"
	"log"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/llmtest"
	"github.com/trunklinehq/trunkline/aiflow/llm/usage"
	"github.com/trunklinehq/trunkline/sqldb"
)

// A model whose calls are written down, those that are repeated too.
func Example() {
	ctx := context.Background()
	db, err := sqldb.Open(ctx, "sqlite://:memory:")
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // the program ends
	openai := llmtest.NewScript(llmtest.Say("Hello."))

	ledger, err := usage.New(ctx, db, nil)
	if err != nil {
		log.Fatal(err)
	}
	model := llm.Retry(ledger.Metered(openai, usage.Call{Account: usage.OneAccount, Feature: "assistant", Provider: "openai"}), nil)
	if _, err := model.Generate(ctx, &llm.Request{Model: "gpt-5", Messages: []llm.Message{llm.User("Hi")}}); err != nil {
		log.Fatal(err)
	}

	calls, err := ledger.For(usage.OneAccount).Detail(ctx, usage.Filter{}, usage.List{})
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range calls.Items {
		fmt.Println(c.Feature, c.Model)
	}
	// Output: assistant gpt-5
}
