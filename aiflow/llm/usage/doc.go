// Package usage keeps a ledger of the calls of language models: the caller, the
// model, the purpose, the tokens and the cost. It prices calls, reports them, and
// refuses calls that would exceed a budget.
//
//	ledger, err := usage.New(ctx, db, nil)
//	metered := ledger.Metered(model, usage.Call{Account: "one", Feature: "assistant", Provider: "openai"})
//	answer, err := metered.Generate(ctx, &llm.Request{Model: "gpt-5", Messages: messages})
//	var spent *usage.Exceeded
//	if errors.As(err, &spent) { … answer without a model … }
//
// The ledger records a call with its maximum cost before the call is made, and the
// actual cost after it has ended. If a program is killed meanwhile, the ledger has
// counted too much rather than too little.
//
// Sums of the calls of quarters, hours and days are kept, so that a report reads only the
// newest calls, and those at its ends. Calls that change later change their sums in the
// same transaction. Reports by chat or run read each call.
//
// Money is counted in whole nano-USD, prices in nano-USD per million tokens. The
// tables begin with usage_; rows are deleted only with their account. The ledger
// has no texts of requests or answers.
package usage
