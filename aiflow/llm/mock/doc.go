// Package mock has language models that need no key and no network, so that
// the first assistant or agent answers at once. They follow rules, the same
// words always lead to the same answer, and they understand little:
//
//   - "assistant" calls the tool whose name and description have most words in
//     common with what the user writes, once each turn, and says what came of
//     it; else it answers with the sentence of its instructions that has most
//     words in common; else it greets, or says what it is. Asked for a schema,
//     it fills it with what is in the text.
//   - "echo" says what the user says.
//
// An answer takes the tokens that [llm.Estimate] counts.
//
//	answer, err := mock.New().Generate(ctx, &llm.Request{
//		Model: "assistant", System: "Roses cost five euros.", Messages: []llm.Message{llm.User("What do roses cost?")},
//	})
package mock
