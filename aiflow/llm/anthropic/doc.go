// Package anthropic calls the models of Anthropic, and of servers with the same
// API.
//
//	model, err := anthropic.New(&anthropic.Options{Key: key})
//	answer, err := model.Generate(ctx, &llm.Request{Model: "claude-sonnet-4-5", Messages: []llm.Message{llm.User("Hello")}})
//
// It supports streaming, tools, schemas, images and files. For tests and examples,
// llmtest.NewServer is a server with the same API.
//
// The package reads nothing from the environment, and does not retry: [llm.Retry]
// does. Answers are always streamed, since other answers have a limited length.
//
// Source: https://platform.claude.com/docs/en/api/messages
package anthropic
