package messaging

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

// hiddenOf is the hidden id of a group's participant whose phone number is not
// known, and whether there is one.
func hiddenOf(ref provider.ReferenceID, who provider.Address) (store.HiddenID, bool) {
	return store.HiddenID{Reference: ref, LID: who.LID, ChatID: who.ChatID}, who.LID != "" && who.Phone == "" && named(who.ChatID)
}

// noteHidden notes who wrote in groups under a hidden id.
func noteHidden(u *store.Batch, as []inboundEvent) {
	for _, a := range as {
		if m, ok := a.event.(*provider.Message); ok && m.Chat.Group {
			if h, hidden := hiddenOf(a.reference.ID, m.From.Address); hidden {
				u.Hidden.Add(h)
			}
		}
	}
}

// hiddenChatID is the chat id of a participant that is known by a LID; "":
// nobody is.
func (s *Service) hiddenChatID(ctx context.Context, q sqlx.QueryerContext, ref provider.ReferenceID, lid string) (string, error) {
	var chatID string
	err := sqlx.GetContext(ctx, q, &chatID, `SELECT chat_id FROM messaging_lid WHERE reference = $1 AND lid = $2`, ref, lid)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("reading a hidden id: %w", err)
	}
	return chatID, nil
}
