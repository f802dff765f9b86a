// Package assistant answers for the assistant nodes of flows, and for those
// that extract with a model: it puts together what the model is told, asks it,
// holds its answer against what was wanted, and keeps what was said.
//
//	models, _ := llm.NewModels(map[string]llm.Model{"mock": mock.New()})
//	helper, err := assistant.New(models, &assistant.Options{Memory: memories, Ledger: ledger})
//	runs, err := runtime.New(ctx, db, host, &runtime.Options{Callers: map[flow.CallKind]runtime.Caller{
//		flow.CallAssistant: helper.Answer,
//		flow.CallExtract:   helper.Extract,
//	}})
//
// A call that is repeated, after a crash or because it failed, asks the model
// again, and the ledger has both. It is kept in memory once.
//
// It has no tables of its own. Why a model did not answer reaches the flow as an
// error with the codes of package llm, or usage.CodeExceeded.
package assistant
