package messaging

import (
	"context"
	"fmt"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// typingTTL is how long a contact's device shows that the account is writing,
// unless a message comes before.
const typingTTL = 25 * time.Second

// Typing is a chat in which the contact sees that the account is writing.
type Typing struct {
	ChatID string   `json:"chatId" example:"ana@sandbox"`
	Since  UnixTime `json:"since"`
}

// noteTyping notes what a contact's device shows from now on.
func noteTyping(ctx context.Context, u *store.Batch, c *store.Chat) error {
	_, err := u.Tx.ExecContext(ctx, `INSERT INTO messaging_typing (chat, since_us, last_message) VALUES ($1, $2, $3)
		ON CONFLICT (chat) DO UPDATE SET since_us = excluded.since_us, last_message = excluded.last_message`,
		c.ID, database.Micros(u.Now), c.LastMessage)
	if err != nil {
		return fmt.Errorf("noting that the account is writing: %w", err)
	}
	return nil
}

// Typing lists the chats in which a simulated phone shows that the account is
// writing: for 25 seconds, or until its next message is there.
func (a *Account) Typing(ctx context.Context, ref provider.ReferenceID) ([]Typing, error) {
	if _, err := a.row(ctx, a.s.db, ref); err != nil {
		return nil, err
	}
	var rows []struct {
		ChatID  string `db:"chat_id"`
		SinceUS int64  `db:"since_us"`
	}
	err := a.s.db.SelectContext(ctx, &rows, `SELECT c.chat_id, t.since_us FROM messaging_typing t JOIN messaging_chat c ON c.id = t.chat
		WHERE c.reference = $1 AND t.since_us > $2 AND NOT EXISTS (SELECT 1 FROM messaging_message m
			WHERE m.chat = t.chat AND m.past_us = 0 AND m.seq > t.last_message AND m.mine AND m.status NOT IN ($3, $4))
		ORDER BY t.since_us DESC, c.id LIMIT 200`,
		ref, database.Micros(a.s.now().Add(-typingTTL)), int(provider.StatusPending), int(provider.StatusFail))
	if err != nil {
		return nil, fmt.Errorf("listing where the account is writing: %w", err)
	}
	out := make([]Typing, len(rows))
	for i, r := range rows {
		out[i] = Typing{r.ChatID, payload.TimeOf(r.SinceUS)}
	}
	return out, nil
}
