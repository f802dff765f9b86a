// Package llm has language models behind one interface: requests and answers are
// the same for all providers. Packages openai and anthropic call providers; package
// mock needs none.
//
//	models, err := llm.NewModels(map[string]llm.Model{"mock": mock.New()})
//	model, name, err := models.Find("mock/echo")
//	answer, err := model.Generate(ctx, &llm.Request{
//		Model: name, System: "Answer in one sentence.",
//		Messages: []llm.Message{llm.User("Where is my parcel?")},
//	})
//	fmt.Println(answer.Message.Text(), answer.Usage.Output)
//
// A model is an interface with one method. [Lister] and [Embedder] are optional
// abilities. A model makes one attempt: [Retry] makes several. Package usage
// records what calls cost, package structured makes a model answer with JSON that
// matches a schema, and package llmtest has scripted models for tests.
//
// # Errors
//
// The error of a model is an [*Error] with a [Code] that is the same for all
// providers. [Error.Temporary] reports whether another attempt may succeed.
package llm
