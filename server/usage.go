package server

import (
	"context"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/aiflow/llm/usage"
	"github.com/trunklinehq/trunkline/messaging"
)

// openUsage opens the ledger of calls of models.
func (s *Server) openUsage(ctx context.Context) (err error) {
	c := s.cfg
	s.Usage, err = usage.New(ctx, c.DB, &usage.Options{Prices: c.Prices, Logger: c.Logger, Now: c.Now})
	return err
}

// toUsage keeps the ledger from naming a chat that is erased.
type toUsage struct{ s *Server }

// EventsTx is told what the ledger does not hold.
func (toUsage) EventsTx(context.Context, *sqlx.Tx, []messaging.Event) error { return nil }

// Committed wakes nobody.
func (toUsage) Committed() {}

// Erase forgets in which chat calls were.
func (t toUsage) Erase(ctx context.Context, e messaging.Erased) error {
	return t.s.Usage.For(e.Account).Erase(ctx, int64(e.Reference), e.ChatIDs, e.Before)
}
