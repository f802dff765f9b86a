package usage_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/llmtest"
	"github.com/trunklinehq/trunkline/aiflow/llm/openai"
	"github.com/trunklinehq/trunkline/aiflow/llm/usage"
	"github.com/trunklinehq/trunkline/sqldb"
)

// A call is written down with its cost; the next one has no room in the budget.
func ExampleExceeded() {
	ctx := context.Background()
	db, err := sqldb.Open(ctx, "sqlite://:memory:")
	check(err)
	defer db.Close() //nolint:errcheck // nothing is written any more
	ledger, err := usage.New(ctx, db, nil)
	check(err)
	shop := ledger.For(usage.OneAccount)
	limit := int64(1_000_000_000) // nano-USD: one dollar
	check(shop.SetBudgets(ctx, []usage.Budget{{Scope: usage.ScopeAccount, Period: usage.PeriodMonth, Cost: &limit}}))

	server := llmtest.NewServer(llmtest.Say("It is on its way.")) // in place of OpenAI's
	defer server.Close()
	model, err := openai.New(&openai.Options{BaseURL: server.OpenAI()})
	check(err)
	metered := ledger.Metered(model, usage.Call{Account: usage.OneAccount, Feature: "assistant", Provider: "openai"})
	patient := llm.Retry(metered, nil) // every attempt counts
	request := &llm.Request{Model: "gpt-5", Messages: []llm.Message{llm.User("Where is my parcel?")}}
	_, err = patient.Generate(ctx, request)
	check(err)
	calls, err := shop.Detail(ctx, usage.Filter{}, usage.List{})
	check(err)
	for _, c := range calls.Items {
		fmt.Println(c.Feature, c.Model, c.Input, c.Output, c.Cost.Nano, c.Cost.Status)
	}

	request.MaxTokens = 1_000_000
	_, err = patient.Generate(ctx, request)
	var spent *usage.Exceeded
	fmt.Println(errors.As(err, &spent), spent.Reason)
	// Output:
	// assistant gpt-5 5 5 56250 priced
	// true cost
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
