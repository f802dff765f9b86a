package erasure

import (
	"context"
	"slices"
	"strings"

	"github.com/trunklinehq/trunkline/aiflow/llm/usage"
	"github.com/trunklinehq/trunkline/aiflow/memory"
	"github.com/trunklinehq/trunkline/mcp"
	"github.com/trunklinehq/trunkline/messaging"
	"github.com/trunklinehq/trunkline/server/internal/auditlog"
)

// Contacts erases contacts that messaging erases, in logs and memories.
type Contacts struct {
	Audit  *auditlog.Store
	MCP    func() *mcp.Registry
	Memory *memory.Service
	Usage  *usage.Ledger
}

// Erase erases the arguments of calls about a contact, its ids in the account's
// log, the chats of calls of models, and what was said in its chats. Arguments
// may name the contact without what follows the @ of an id.
func (c *Contacts) Erase(ctx context.Context, e messaging.Erased) error {
	texts := slices.Concat(e.ChatIDs, e.MessageIDs)
	for _, id := range e.ChatIDs {
		if name, _, ok := strings.Cut(id, "@"); ok {
			texts = append(texts, name)
		}
	}
	if err := c.MCP().For(e.Account).Erase(ctx, texts); err != nil {
		return err
	}
	if err := c.Audit.Erase(ctx, e.Account, e.ChatIDs); err != nil {
		return err
	}
	if err := c.Usage.For(e.Account).Erase(ctx, int64(e.Reference), e.ChatIDs, e.Before); err != nil {
		return err
	}
	return c.Memory.For(e.Account).Erase(ctx, memory.Erasure{
		Reference: int64(e.Reference), ChatIDs: e.ChatIDs, MessageIDs: e.MessageIDs, Before: e.Before,
	})
}
