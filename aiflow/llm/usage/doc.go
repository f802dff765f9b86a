// Package usage keeps a ledger of the calls of language models: who asked
// which model for what, the tokens it took and what they cost. It prices calls,
// reports them, and stops them where a budget ends.
//
//	ledger, err := usage.New(ctx, db, nil)
//	metered := ledger.Metered(model, usage.Call{Account: "one", Feature: "assistant", Provider: "openai"})
//	answer, err := metered.Generate(ctx, &llm.Request{Model: "gpt-5", Messages: messages})
//	var spent *usage.Exceeded
//	if errors.As(err, &spent) { … answer without a model … }
//
// A call is in the ledger before it is made, with the most that it can
// take; what it took is written when it has ended. So a program that is killed
// meanwhile has counted too much rather than too little.
//
// Money is counted in whole nano-USD, prices in nano-USD per million tokens.
// The tables begin with usage_; nothing is ever deleted but with its account. The
// ledger holds nothing of
// what was asked or answered.
package usage
