// Package llm is about language models: what they are asked and what they
// answer, for all providers alike. Package openai and package anthropic speak to
// providers; package mock needs none.
//
//	models, err := llm.NewModels(map[string]llm.Model{"mock": mock.New()})
//	model, name, err := models.Find("mock/echo")
//	answer, err := model.Generate(ctx, &llm.Request{
//		Model: name, System: "Answer in one sentence.",
//		Messages: []llm.Message{llm.User("Where is my parcel?")},
//	})
//	fmt.Println(answer.Message.Text(), answer.Usage.Output)
//
// A model is an interface of one method; what else one can do, [Lister] and
// [Embedder] say. It makes one attempt: [Retry] makes several. Package usage writes
// down what calls cost, package structured has a model answer with JSON that fits a
// schema, package llmtest plays models in tests.
//
// # Errors
//
// Why a model did not answer is an [*Error] with a [Code] that is the same for all
// providers; [Error.Temporary] says whether another attempt may succeed.
package llm
