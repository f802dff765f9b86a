package server

import (
	"context"
	"strings"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/usage"
	"github.com/trunklinehq/trunkline/extractor/store"
	"github.com/trunklinehq/trunkline/server/internal/billed"
	"github.com/trunklinehq/trunkline/server/internal/httpapi"
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
	return llm.Retry(&billed.Model{Ledger: s.Usage, Model: m, Used: c.Used, Call: usage.Call{
		Account: c.Account, Reference: c.Reference, ChatID: c.ChatID, Feature: "extractor", Provider: provider, Model: name,
	}}, nil), name, nil
}

// extractors is the service of extractors for the caller.
func (s *Server) extractors(c httpapi.Call) *store.Account { return s.Extractors.For(c.Account) }

// botDeleted removes the extractors of a bot that is deleted.
func (s *Server) botDeleted(ctx context.Context, account, bot string) error {
	return s.Extractors.For(account).DeleteBot(ctx, bot)
}

// flowDeleted removes the extractors of a flow that is deleted.
func (s *Server) flowDeleted(ctx context.Context, account, flow string) error {
	return s.Extractors.For(account).DeleteFlow(ctx, flow)
}
