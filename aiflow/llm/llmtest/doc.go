// Package llmtest has language models for tests: a [Script] says what it is
// told to say, and a [Server] says the same over HTTP, as both OpenAI and
// Anthropic do. Each remembers what it was asked and counts what its answers
// took, to the token.
//
// It is no test helper of this module alone: it needs no *testing.T.
//
//	model := llmtest.NewScript(
//		llmtest.Call(llm.ToolCall{ID: "1", Name: "order_status", Arguments: `{"order":"A-17"}`}),
//		llmtest.Say("It is on its way."),
//	)
//	// … run what is tested with model …
//	err := model.Done() // nil: it was asked twice
package llmtest
