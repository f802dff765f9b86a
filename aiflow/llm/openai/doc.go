// Package openai calls the models of OpenAI, and of every server with the chat
// completions API: vLLM, llama.cpp, Ollama, OpenRouter and others.
//
//	model, err := openai.New(&openai.Options{Key: key})
//	answer, err := model.Generate(ctx, &llm.Request{Model: "gpt-5-mini", Messages: []llm.Message{llm.User("Hello")}})
//
// It supports streaming, tools, schemas, images and files, and computes embeddings
// ([Model.Embed]). For tests and examples, llmtest.NewServer is a server with the
// same API.
//
// The package reads nothing from the environment, and does not retry: [llm.Retry]
// does.
//
// Source: https://platform.openai.com/docs/api-reference/chat
package openai
