// Package assistant answers the calls of assistant nodes, and of nodes that extract
// values with a model. It builds the prompt, calls the model, validates the answer,
// and remembers the conversation.
//
//	models, _ := llm.NewModels(map[string]llm.Model{"mock": mock.New()})
//	helper, err := assistant.New(models, &assistant.Options{Memory: memories, Ledger: ledger})
//	runs, err := runtime.New(ctx, db, host, &runtime.Options{Callers: map[flow.CallKind]runtime.Caller{
//		flow.CallAssistant: helper.Answer,
//		flow.CallExtract:   helper.Extract,
//	}})
//
// A repeated call, after a crash or an error, calls the model again. The ledger
// then has both calls; memory has one turn.
//
// The package has no tables of its own. If a model does not answer, the flow gets
// an error with a code of package llm, or usage.CodeExceeded.
package assistant
