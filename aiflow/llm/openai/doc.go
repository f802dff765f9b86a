// Package openai asks the models of OpenAI, and of every server that speaks
// its chat completions: vLLM, llama.cpp, Ollama, OpenRouter and others.
//
//	model, err := openai.New(&openai.Options{Key: key})
//	answer, err := model.Generate(ctx, &llm.Request{Model: "gpt-5-mini", Messages: []llm.Message{llm.User("Hello")}})
//
// It generates, streams, calls tools, keeps to schemas, looks at images and files,
// and makes embeddings ([Model.Embed]). Tests and examples have a server that
// answers like the real one: llmtest.NewServer.
//
// Nothing is read from the environment, and nothing is asked twice: [llm.Retry]
// does that.
//
// Source: https://platform.openai.com/docs/api-reference/chat
package openai
