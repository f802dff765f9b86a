package server

import (
	"context"
	"slices"
	"strings"

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

// Erase forgets in which chat calls were.
func (t toUsage) Erase(ctx context.Context, e messaging.Erased) error {
	return t.s.Usage.For(e.Account).Erase(ctx, int64(e.Reference), e.ChatIDs, e.Before)
}

// toAudit keeps the audit logs from naming a contact who is erased.
type toAudit struct{ s *Server }

// Erase erases the arguments of calls about a contact, who may have been
// named without what follows the @ of an id, and its ids in the account's log.
func (t toAudit) Erase(ctx context.Context, e messaging.Erased) error {
	texts := slices.Concat(e.ChatIDs, e.MessageIDs)
	for _, id := range e.ChatIDs {
		if name, _, ok := strings.Cut(id, "@"); ok {
			texts = append(texts, name)
		}
	}
	if err := t.s.MCP.For(e.Account).Erase(ctx, texts); err != nil {
		return err
	}
	return t.s.audit.Erase(ctx, e.Account, e.ChatIDs)
}
