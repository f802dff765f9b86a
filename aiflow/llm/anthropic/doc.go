// Package anthropic asks the models of Anthropic, and of servers that speak
// its messages.
//
//	model, err := anthropic.New(&anthropic.Options{Key: key})
//	answer, err := model.Generate(ctx, &llm.Request{Model: "claude-sonnet-4-5", Messages: []llm.Message{llm.User("Hello")}})
//
// It generates, streams, calls tools, keeps to schemas and looks at images and
// files. Tests and examples have a server that answers like the real one:
// llmtest.NewServer.
//
// Nothing is read from the environment, and nothing is asked twice: [llm.Retry]
// does that. Answers always come as a stream, which has no limit of length.
//
// Source: https://platform.claude.com/docs/en/api/messages
package anthropic
