// Package mock has language models that need no key and no network, so that a first
// assistant or agent works at once. They follow simple rules, and the same request
// always has the same answer:
//
//   - "assistant" calls the tool whose name and description have the most words in
//     common with the user's message, at most once in each turn, and reports the
//     result. Otherwise it answers with the sentence of its instructions that has
//     the most words in common with the message; otherwise it greets, or says what
//     it is. If there is a schema it fills it from the text.
//   - "echo" repeats the user's message.
//
// The usage of an answer is computed by [llm.Estimate].
//
//	answer, err := mock.New().Generate(ctx, &llm.Request{
//		Model: "assistant", System: "Roses cost five euros.", Messages: []llm.Message{llm.User("What do roses cost?")},
//	})
package mock
