package messaging

import (
	"context"
	"errors"
	"fmt"

	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

// ChatIDs returns every chat id that a chat has or had, given any of its ids:
// what was recorded elsewhere may have an older one. Of a chat that does not
// exist it is the id itself, in the form that the reference uses.
func (a *Account) ChatIDs(ctx context.Context, ref provider.ReferenceID, chatID string) ([]string, error) {
	row, p, err := a.opened(ctx, ref)
	if err != nil {
		return nil, err
	}
	addr, err := a.s.recipients.Address(ctx, a.s.db, row.ID, p, chatID)
	if err != nil {
		return nil, err
	}
	c, err := a.s.store.ChatByAddress(ctx, a.s.db, row.ID, addr)
	if errors.Is(err, ErrNotFound) {
		return []string{addr.ChatID}, nil
	}
	if err != nil {
		return nil, err
	}
	var others []string
	err = a.s.db.SelectContext(ctx, &others, `SELECT alias FROM messaging_alias WHERE chat = $1 AND kind = 'chat' AND alias <> $2`, c.ID, c.ChatID)
	if err != nil {
		return nil, fmt.Errorf("reading the names of a chat: %w", err)
	}
	return append(others, c.ChatID), nil
}

// MessageIDs returns every id by which a message is or was known, given any of
// them.
func (a *Account) MessageIDs(ctx context.Context, ref provider.ReferenceID, messageID string) ([]string, error) {
	if _, err := a.row(ctx, a.s.db, ref); err != nil {
		return nil, err
	}
	messageID = store.Sanitize(messageID)
	var others []string
	err := a.s.db.SelectContext(ctx, &others, `SELECT o.own_id FROM messaging_message m JOIN messaging_outbound o ON o.message = m.seq
			WHERE m.reference = $1 AND m.id = $2
		UNION ALL SELECT m.id FROM messaging_outbound o JOIN messaging_message m ON m.seq = o.message
			WHERE o.reference = $1 AND o.own_id = $2`, ref, messageID)
	if err != nil {
		return nil, fmt.Errorf("reading the ids of a message: %w", err)
	}
	return append(others, messageID), nil
}
