// Package llm is about language models: what they are asked and what they
// answer, whoever makes them. Package openai and package anthropic speak to
// providers; package mock needs none.
//
//	models, err := llm.NewModels(map[string]llm.Model{"mock": mock.New()})
//	model, name, err := models.Find("mock/echo")
//	answer, err := model.Generate(ctx, &llm.Request{
//		Model: name, System: "Answer in one sentence.",
//		Messages: []llm.Message{llm.User("Where is my parcel?")},
//	})
//	fmt.Println(answer.Message.Text(), answer.Usage.Output)
package llm
