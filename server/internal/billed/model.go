// Package billed writes the calls of language models that the server makes by
// itself, without a run, into the ledger.
package billed

import (
	"context"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/usage"
)

// Model is a language model whose calls are written into the ledger. It tells
// what they cost.
type Model struct {
	Ledger *usage.Ledger
	Model  llm.Model
	Used   func(tokens llm.Usage, nano int64, known bool) // of each call that was answered
	Call   usage.Call                                     // what is written of each call
}

// Generate makes a call.
func (m *Model) Generate(ctx context.Context, r *llm.Request) (*llm.Response, error) {
	c := m.Call
	c.Reserve = usage.WorstCase(r)
	e, err := m.Ledger.Begin(ctx, c)
	if err != nil {
		return nil, err
	}
	res, failed := m.Model.Generate(ctx, r)
	cost, err := m.Ledger.Complete(context.WithoutCancel(ctx), e, res, failed)
	if failed != nil {
		return nil, failed
	}
	if err != nil {
		return nil, err
	}
	m.Used(res.Usage, cost.Nano, cost.Known)
	return res, nil
}
