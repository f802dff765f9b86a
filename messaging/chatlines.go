package messaging

import (
	"context"
	"fmt"

	"github.com/trunklinehq/trunkline/provider"
)

// Lines returns the account's lines that have a chat of an id, in any of the
// forms in which their kinds write it, the oldest first.
func (a *Account) Lines(ctx context.Context, chatID string) ([]provider.ReferenceID, error) {
	ids := []any{clean(chatID)}
	for _, p := range a.s.kinds {
		if addr, err := address(p, chatID); err == nil {
			ids = append(ids, addr.ChatID)
		}
	}
	in, args := a.s.db.Dialect.In("x.alias", 2, ids)
	lines := []provider.ReferenceID{}
	err := a.s.db.SelectContext(ctx, &lines, `SELECT DISTINCT x.reference FROM messaging_alias x JOIN messaging_reference r ON r.id = x.reference
		WHERE r.account = $1 AND `+in+` ORDER BY x.reference`, append([]any{a.id}, args...)...)
	if err != nil {
		return nil, fmt.Errorf("looking for the lines of a chat: %w", err)
	}
	return lines, nil
}
