// Package llmtest has language models for tests. A [Script] answers as it is told,
// and a [Server] does the same over HTTP, with the APIs of OpenAI and Anthropic.
// Both record the requests and count the tokens of their answers.
//
// Programs that use this module can use it, too: it needs no *testing.T.
//
//	model := llmtest.NewScript(
//		llmtest.Call(llm.ToolCall{ID: "1", Name: "order_status", Arguments: `{"order":"A-17"}`}),
//		llmtest.Say("It is on its way."),
//	)
//	// … run what is tested with model …
//	err := model.Done() // nil: it was asked twice
package llmtest
