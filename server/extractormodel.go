package server

import (
	"context"
	"strings"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/usage"
	"github.com/trunklinehq/trunkline/extractor/store"
)

// openExtractors opens what finds values in messages.
func (s *Server) openExtractors(ctx context.Context) (err error) {
	c := s.cfg
	s.Extractors, err = store.New(ctx, c.DB, &store.Options{
		Model: s.extractorModel, Exclusive: c.Exclusive, Logger: c.Logger, Now: c.Now,
	})
	return err
}

// extractorModel finds the model that an extractor asks, whose calls are in the
// ledger.
func (s *Server) extractorModel(_ context.Context, c store.Call) (llm.Model, string, error) {
	m, name, err := s.models.Find(c.Model)
	if err != nil {
		return nil, "", err
	}
	provider, _, _ := strings.Cut(c.Model, "/")
	return llm.Retry(&billedModel{s.Usage, m, c.Used, usage.Call{
		Account: c.Account, Reference: c.Reference, ChatID: c.ChatID, Feature: "extractor", Provider: provider, Model: name,
	}}, nil), name, nil
}

// billedModel writes calls into the ledger and says what they cost.
type billedModel struct {
	ledger *usage.Ledger
	model  llm.Model
	used   func(llm.Usage, int64, bool)
	call   usage.Call
}

// Generate makes a call.
func (m *billedModel) Generate(ctx context.Context, r *llm.Request) (*llm.Response, error) {
	c := m.call
	c.Reserve = usage.WorstCase(r)
	e, err := m.ledger.Begin(ctx, c)
	if err != nil {
		return nil, err
	}
	res, failed := m.model.Generate(ctx, r)
	cost, err := m.ledger.Complete(context.WithoutCancel(ctx), e, res, failed)
	if failed != nil {
		return nil, failed
	}
	if err != nil {
		return nil, err
	}
	m.used(res.Usage, cost.Nano, cost.Known)
	return res, nil
}
